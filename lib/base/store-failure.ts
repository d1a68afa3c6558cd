import { RelayError } from './errors.ts';

/**
 * The error for a failed request to an AWS service that stores data.
 *
 * Callers of the webhook see its message, so it names only the kind of the failure: the service's own message
 * may contain account ids and resource names.
 *
 * @param done for example `the ledger could not be read`
 */
export function createStoreFailure(done: string, error: unknown): RelayError {
  const kind = error instanceof Error ? error.name : 'unknown failure';
  return new RelayError('store_unavailable', `${done}: ${kind}`, { cause: error });
}
