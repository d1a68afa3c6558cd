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
  // Every currency gone at once is an answer gone wrong.
  if (listed.length === 0)
    throw new RelayError('history_unreadable', 'the exchange lists no fees at all; what is known stays');
  const known = await store.fees.readCurrent(account);
  const changes = compareFees(known, listed, seenAtMs);
  const written = await writeChanges(services, account, changes);
  if (known.length === 0) log.info('fees kept for the first time', { account, tickers: written.length });
  else
    for (const change of written)
      log.info('a fee changed', { account, ticker: change.version.ticker, note: describeFeeChange(change) });
}

/** @returns those that nobody else had written meanwhile */
async function writeChanges(
  { store }: SnapshotServices,
  account: string,
  changes: readonly FeeChange[],
): Promise<readonly FeeChange[]> {
  const written: FeeChange[] = [];
  for (let from = 0; from < changes.length; from += writesAtOnce) {
    const some = changes.slice(from, from + writesAtOnce);
    const results = await Promise.all(
      some.map(({ known, version }) => store.fees.append(account, known, version)),
    );
    written.push(...some.filter((_, index) => results[index]));
  }
  return written;
}
