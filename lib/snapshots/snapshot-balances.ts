import { type Decimal, zero } from '../base/decimal.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { collateralBalance } from '../exchange/endpoints/collateral-balance.ts';
import { mainBalance } from '../exchange/endpoints/main-balance.ts';
import { ExchangeError } from '../exchange/errors.ts';
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
    readCollateral(client, timeoutMs),
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

/** Only the live service has it, and not for everybody: a refusal says that there is none to keep. */
async function readCollateral(client: ExchangeClient, timeoutMs: number): Promise<Holdings | null> {
  if (client.dialect !== 'live') return null;
  try {
    const balances = await client.call(collateralBalance, {}, { timeoutMs });
    return keepHeld(balances.map(({ asset, balance }) => [asset, balance]));
  } catch (error) {
    if (error instanceof ExchangeError && error.failure.kind === 'rejected') return null;
    throw error;
  }
}

/** A collateral balance may be below zero, and is something held then too. */
function keepHeld(amounts: readonly (readonly [ticker: string, amount: Decimal])[]): Holdings {
  return Object.fromEntries(amounts.filter(([, amount]) => !amount.eq(zero)));
}
