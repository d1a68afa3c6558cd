import { RelayError } from './errors.ts';

/**
 * What a service that keeps things throws to the relay when it did not do as asked.
 *
 * Only the kind of the failure is told: a service's own words may name the account and its resources, and callers
 * of the webhook read this.
 *
 * @param done for example `the ledger could not be read`
 */
export function createStoreFailure(done: string, error: unknown): RelayError {
  const kind = error instanceof Error ? error.name : 'unknown failure';
  return new RelayError('store_unavailable', `${done}: ${kind}`, { cause: error });
}
