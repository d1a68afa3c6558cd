import { RelayError } from '../base/errors.ts';
import { fees } from '../exchange/endpoints/fees.ts';
import { compareFees, describeFeeChange, type FeeChange } from './compare-fees.ts';
import { forEachAccount, type SnapshotServices } from './each-account.ts';

/**
 * Keeps what moving each currency costs, for every account: a version for each change, nothing where nothing changed.
 * A change is told once, by whoever wrote it; runs that overlap see it written.
 *
 * @throws RelayError `snapshot_incomplete` when an account could not be read or stored
 */
export function snapshotFees(services: SnapshotServices): Promise<void> {
  return forEachAccount(services, 'the snapshot of fees', (account) => snapshotAccount(services, account));
}

/** As many changes are written at once. */
const writesAtOnce = 25;

async function snapshotAccount(services: SnapshotServices, account: string): Promise<void> {
  const { clock, log, store, exchangeTimeoutMs: timeoutMs } = services;
  const client = await services.exchangeFor(account);
  const seenAtMs = clock.nowMs();
  const listed = await client.call(fees, {}, { timeoutMs });
  // Every currency gone at once is a response gone wrong.
  if (listed.length === 0)
    throw new RelayError('history_unreadable', 'the exchange lists no fees at all; what is known stays');
  const known = await store.fees.readCurrent(account);
  const changes = compareFees(known, listed, seenAtMs);
  const added = await writeChanges(services, account, changes, (change) => {
    if (known.length > 0)
      log.info('a fee changed', { account, ticker: change.version.ticker, note: describeFeeChange(change) });
  });
  if (known.length === 0) log.info('fees kept for the first time', { account, tickers: added });
}

/**
 * @param onAdded is told of a change as soon as it is written, as no later run finds it changed again
 * @returns how many nobody else had written meanwhile
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
    // All of them end before the first failure goes on: what is still on its way is told too.
    const results = await Promise.allSettled(changes.slice(from, from + writesAtOnce).map(write));
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
  return added;
}
