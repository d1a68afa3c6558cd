import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** What taking snapshots needs of the world. */
export interface SnapshotServices {
  readonly clock: Clock;
  readonly log: Log;
  /** The accounts to look at, by name. */
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
 * Does the same for every account, side by side: the failure of one is no hindrance to the others.
 *
 * @throws RelayError `snapshot_incomplete` after all have ended, when some have failed; each has a line in the log
 */
export async function forEachAccount(
  { accounts, log }: Pick<SnapshotServices, 'accounts' | 'log'>,
  task: string,
  story: (account: string) => Promise<void>,
): Promise<void> {
  const failed: string[] = [];
  const causes: unknown[] = [];
  await Promise.all(
    accounts.map(async (account) => {
      try {
        await story(account);
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
