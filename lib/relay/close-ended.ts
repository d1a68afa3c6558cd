import type { Clock } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Settings } from '../model/settings.ts';

export interface CloseServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly ledger: Ledger;
  readonly settings: Settings;
  /** @throws RelayError `secrets_missing` when no key is stored */
  exchangeFor(account: string): Promise<ExchangeClient>;
}

/** Longer than any list lags behind an order that was placed. */
export const longestLagMs = 10 * 60_000;
/** As many open orders as the ledger is asked for at once: milliseconds, whatever else it holds. */
export const mostBelieved = 1000;
/** A run has little time; what is left is closed by the next one. */
const mostClosed = 200;

/** Whether an order was placed so long ago that a list of open orders shows it, if it is open. */
export function wasPlacedLongAgo({ status, updatedAtMs }: Entry, nowMs: number): boolean {
  return status === 'placed' && updatedAtMs <= nowMs - longestLagMs;
}

/**
 * Closes entries whose orders have ended at the exchange: orders that fill leave no other trace in the ledger, and
 * what is believed open for ever would have to be asked for by every later cancellation.
 *
 * Only the live service lists what is open; without such a list nothing is closed. Nothing is asked while nothing is
 * believed open for long.
 *
 * @returns how many it closed
 * @throws RelayError `store_unavailable`
 */
export async function closeEnded(services: CloseServices, options: SendOptions): Promise<number> {
  let closed = 0;
  for (const { name, mode, markets } of Object.values(services.settings.accounts))
    if (mode === 'live')
      for (const market of Object.keys(markets))
        closed += await closeInMarket(services, name, market, options);
  return closed;
}

async function closeInMarket(
  services: CloseServices,
  account: string,
  market: string,
  options: SendOptions,
): Promise<number> {
  const believed = await services.ledger.openOrders(account, market, mostBelieved);
  if (!believed.some((entry) => wasPlacedLongAgo(entry, services.clock.nowMs()))) return 0;
  try {
    const client = await services.exchangeFor(account);
    if (client.dialect !== 'live') return 0;
    const { orders, isWhole } = await listOpenOrders(client, market, options);
    const open = new Set(orders.map(({ orderId }) => orderId));
    if (!isWhole) return 0;
    return await closeMissing(
      services,
      believed.filter(({ orderId }) => orderId !== null && !open.has(orderId)),
    );
  } catch (error) {
    if (error instanceof RelayError && error.code === 'store_unavailable') throw error;
    // Another account's key, or a list that cannot be read now, must not keep the others from being closed.
    services.log.warn('orders that ended could not be told from open ones; the next run tries again', {
      account,
      market,
      reason: describeSafely(error),
    });
    return 0;
  }
}

/**
 * Closes those entries that are in no list of open orders although they were placed long ago.
 *
 * @param missing entries that the list does not show
 * @returns how many it closed
 */
export async function closeMissing(
  { ledger, clock }: Pick<CloseServices, 'ledger' | 'clock'>,
  missing: readonly Entry[],
): Promise<number> {
  const ended = missing.filter((entry) => wasPlacedLongAgo(entry, clock.nowMs())).slice(0, mostClosed);
  await Promise.all(ended.map((entry) => ledger.closeOrder(entry)));
  return ended.length;
}
