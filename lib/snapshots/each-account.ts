import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** The dependencies of the snapshot jobs. */
export interface SnapshotServices {
  readonly clock: Clock;
  readonly log: Log;
  /** The names of the accounts. */
  readonly accounts: readonly string[];
  readonly store: SnapshotStore;
  /** How long one request to the exchange may take, retries included. */
  readonly exchangeTimeoutMs: number;
  /**
   * A client that signs with the account's key.
   *
   * @throws RelayError `secrets_missing` when no key is stored
   */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/**
 * Runs a task for every account, concurrently. A failure of one account does not stop the others.
 *
 * @throws RelayError `snapshot_incomplete` when some accounts
 * failed, after all have ended; the log has a line for each
 */
export async function forEachAccount(
  { accounts, log }: Pick<SnapshotServices, 'accounts' | 'log'>,
  task: string,
  run: (account: string) => Promise<void>,
): Promise<void> {
  const failed: string[] = [];
  const causes: unknown[] = [];
  await Promise.all(
    accounts.map(async (account) => {
      try {
        await run(account);
      } catch (error) {
        log.error(`${task} failed`, { account, ...factsOf(error) });
        failed.push(account);
        causes.push(error);
      }
    }),
  );
  if (failed.length === 0) return;
  const message = `${task} failed for ${failed.length} of ${accounts.length} accounts: ${failed.join(', ')}`;
  throw new RelayError('snapshot_incomplete', message, { cause: causes[0] });
}

function factsOf(error: unknown): { readonly reason: string; readonly code?: string } {
  return { ...(error instanceof RelayError ? { code: error.code } : {}), reason: describeError(error) };
}
