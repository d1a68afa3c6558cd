import { type Decimal, zero } from '../base/decimal.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { collateralBalance } from '../exchange/endpoints/collateral-balance.ts';
import { mainBalance } from '../exchange/endpoints/main-balance.ts';
import { describeFailure, ExchangeError, isDenied } from '../exchange/errors.ts';
import { forEachAccount, type SnapshotServices } from './each-account.ts';
import type { Holdings } from './snapshot-store.ts';

/**
 * Keeps what every account holds, once for each time of the schedule: a run that comes again, or twice at once, finds
 * the slot taken.
 *
 * @param slotMs the time of the schedule that the run stands for
 * @throws RelayError `snapshot_incomplete` when an account could not be read or stored
 */
export function snapshotBalances(services: SnapshotServices, slotMs: number): Promise<void> {
  return forEachAccount(services, 'the snapshot of balances', (account) =>
    snapshotAccount(services, account, slotMs),
  );
}

async function snapshotAccount(services: SnapshotServices, account: string, slotMs: number): Promise<void> {
  const { clock, log, store, exchangeTimeoutMs: timeoutMs } = services;
  const newest = await store.balances.readAt(account, slotMs);
  if (newest?.slotMs === slotMs) return;
  const client = await services.exchangeFor(account);
  const takenAtMs = clock.nowMs();
  const [main, collateral] = await Promise.all([
    readMain(client, timeoutMs),
    readCollateral(services, account, client),
  ]);
  const written = await store.balances.write(account, { slotMs, takenAtMs, main, collateral });
  if (written === 'stored')
    log.info('balances kept', {
      account,
      slot: new Date(slotMs).toISOString(),
      tickers: Object.keys(main).length,
      collateralTickers: collateral === null ? null : Object.keys(collateral).length,
    });
}

async function readMain(client: ExchangeClient, timeoutMs: number): Promise<Holdings> {
  const balances = await client.call(mainBalance, {}, { timeoutMs });
  return keepHeld(Object.entries(balances).map(([ticker, balance]) => [ticker, balance.mainBalance]));
}

/**
 * Only the live service has it, and not for everybody: an account or a key that may not have it has none to keep. Any
 * other failure says nothing of that.
 */
async function readCollateral(
  { log, exchangeTimeoutMs: timeoutMs }: SnapshotServices,
  account: string,
  client: ExchangeClient,
): Promise<Holdings | null> {
  if (client.dialect !== 'live') return null;
  try {
    const balances = await client.call(collateralBalance, {}, { timeoutMs });
    return keepHeld(balances.map(({ asset, balance }) => [asset, balance]));
  } catch (error) {
    if (!(error instanceof ExchangeError) || !isDenied(error)) throw error;
    logDenial(log, account, describeFailure(error.failure));
    return null;
  }
}

/** What each log was told already: an account without collateral is none each hour. */
const toldDenials = new WeakMap<Log, Set<string>>();

function logDenial(log: Log, account: string, reason: string): void {
  const told = toldDenials.get(log) ?? new Set();
  toldDenials.set(log, told);
  const denial = `${account}: ${reason}`;
  if (told.has(denial)) return;
  told.add(denial);
  log.warn('no collateral balance for this account: it has none, or its key may not see it', {
    account,
    reason: `${reason}; snapshots are kept without it, and it is asked for again with each`,
  });
}

/** A collateral balance may be below zero, and is something held then too. */
function keepHeld(amounts: readonly (readonly [ticker: string, amount: Decimal])[]): Holdings {
  return Object.fromEntries(amounts.filter(([, amount]) => !amount.eq(zero)));
}
