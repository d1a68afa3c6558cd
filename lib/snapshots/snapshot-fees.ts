import { RelayError } from '../base/errors.ts';
import { fees } from '../exchange/endpoints/fees.ts';
import { compareFees, describeFeeChange, type FeeChange } from './compare-fees.ts';
import { forEachAccount, type SnapshotServices } from './each-account.ts';

/**
 * Stores the transfer fees of each currency for every account, one version for each change. A change is
 * logged once, by the run that wrote it; an overlapping run finds it stored.
 *
 * @throws RelayError `snapshot_incomplete` when an account could not be read or stored
 */
export function snapshotFees(services: SnapshotServices): Promise<void> {
  return forEachAccount(services, 'the snapshot of fees', (account) => snapshotAccount(services, account));
}

/** The number of concurrent writes. */
const writesAtOnce = 25;

async function snapshotAccount(services: SnapshotServices, account: string): Promise<void> {
  const { clock, log, store, exchangeTimeoutMs: timeoutMs } = services;
  const client = await services.exchangeFor(account);
  const seenAtMs = clock.nowMs();
  const listed = await client.call(fees, {}, { timeoutMs });
  // An empty list is a faulty response: all currencies do not disappear at once.
  if (listed.length === 0)
    throw new RelayError(
      'history_unreadable',
      'the exchange lists no transfer fees at all; the stored ones stay as they are',
    );
  const known = await store.fees.readCurrent(account);
  const changes = compareFees(known, listed, seenAtMs);
  const added = await writeChanges(services, account, changes, (change) => {
    if (known.length > 0)
      log.info('a transfer fee changed', {
        account,
        ticker: change.version.ticker,
        note: describeFeeChange(change),
      });
  });
  if (known.length === 0) log.info('transfer fees stored for the first time', { account, tickers: added });
}

/**
 * @param onAdded called as soon as a change is written, because no later run finds the change again
 * @returns the number of changes written; changes that another run wrote first do not count
 */
async function writeChanges(
  { store }: SnapshotServices,
  account: string,
  changes: readonly FeeChange[],
  onAdded: (change: FeeChange) => void,
): Promise<number> {
  let added = 0;
  const write = async (change: FeeChange) => {
    if (!(await store.fees.append(account, change.known, change.version))) return;
    added += 1;
    onAdded(change);
  };
  for (let from = 0; from < changes.length; from += writesAtOnce) {
    // Waits for all writes before it throws, so that every change written is also logged.
    const results = await Promise.allSettled(changes.slice(from, from + writesAtOnce).map(write));
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
  return added;
}
