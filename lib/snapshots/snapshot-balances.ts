import { type Decimal, zero } from '../base/decimal.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { collateralBalance } from '../exchange/endpoints/collateral-balance.ts';
import { mainBalance } from '../exchange/endpoints/main-balance.ts';
import { describeFailure, ExchangeError, isDenied } from '../exchange/errors.ts';
import { forEachAccount, type SnapshotServices } from './each-account.ts';
import type { Holdings } from './snapshot-store.ts';

/**
 * Stores the balances of every account, once for each scheduled time:
 * a repeated or concurrent run finds that the slot has a snapshot.
 *
 * @param slotMs the scheduled time of the run
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
    log.info('balances stored', {
      account,
      slot: new Date(slotMs).toISOString(),
      tickers: Object.keys(main).length,
      collateralTickers: collateral === null ? null : Object.keys(collateral).length,
    });
}

async function readMain(client: ExchangeClient, timeoutMs: number): Promise<Holdings> {
  const balances = await client.call(mainBalance, {}, { timeoutMs });
  return withoutZeros(Object.entries(balances).map(([ticker, balance]) => [ticker, balance.mainBalance]));
}

/**
 * Only the live service has a collateral balance, and only for some accounts
 * and keys. If the exchange denies access, the result is null; any other
 * failure is thrown, because it does not say whether the account has one.
 */
async function readCollateral(
  { log, exchangeTimeoutMs: timeoutMs }: SnapshotServices,
  account: string,
  client: ExchangeClient,
): Promise<Holdings | null> {
  if (client.dialect !== 'live') return null;
  try {
    const balances = await client.call(collateralBalance, {}, { timeoutMs });
    return withoutZeros(balances.map(({ asset, balance }) => [asset, balance]));
  } catch (error) {
    if (!(error instanceof ExchangeError) || !isDenied(error)) throw error;
    logDenial(log, account, describeFailure(error.failure));
    return null;
  }
}

/**
 * The denials already written to each log, so that an account
 * without collateral is not logged with every run.
 */
const loggedDenials = new WeakMap<Log, Set<string>>();

function logDenial(log: Log, account: string, reason: string): void {
  const logged = loggedDenials.get(log) ?? new Set();
  loggedDenials.set(log, logged);
  const denial = `${account}: ${reason}`;
  if (logged.has(denial)) return;
  logged.add(denial);
  log.warn('no collateral balance for this account: it has none, or its key lacks the permission', {
    account,
    reason: `${reason}; snapshots are stored without it, and each run asks for it again`,
  });
}

/** Leaves out zero amounts. A collateral balance below zero is kept. */
function withoutZeros(amounts: readonly (readonly [ticker: string, amount: Decimal])[]): Holdings {
  return Object.fromEntries(amounts.filter(([, amount]) => !amount.eq(zero)));
}
