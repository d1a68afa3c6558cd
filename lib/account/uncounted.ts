import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { ExchangeError, isHistoryNotFound } from '../exchange/errors.ts';
import { type EndedOrder, listNewestEnded } from '../exchange/list-account.ts';
import type { Order } from '../model/order.ts';
import { heldToMs } from './account-deals.ts';
import type { DayFills } from './day-profit.ts';
import type { DealSource, ListedFilled } from './deal-places.ts';
import { mostUnpricedMs } from './unpriced.ts';

/** An order that has filled more than its counted deals: the list of deals may lag behind those of the orders. */
interface Uncounted extends ListedFilled {
  /** In base units. */
  readonly counted: Decimal;
}

/** The orders as lists have shown them, some of them more than once. */
export interface ListedOrders {
  readonly ended: readonly EndedOrder[];
  readonly open: readonly Order[];
}

/**
 * Reads the orders of the account that have ended of late, in all markets.
 *
 * @param nowMs on the relay's clock
 * @throws ExchangeError when the list cannot be read
 */
export async function listEndedLately(
  { client, options }: DealSource,
  nowMs: number,
): Promise<readonly EndedOrder[]> {
  try {
    return await listNewestEnded(client, nowMs - mostUnpricedMs, options);
  } catch (error) {
    // So the exchange may say that the account never had an order.
    if (error instanceof ExchangeError && isHistoryNotFound(error)) return [];
    throw error;
  }
}

/**
 * Finds the orders whose profit or loss nobody knows yet. A position that was opened and closed since it was last read, by
 * hand or by its stop-loss, is seen here alone.
 */
export function findUncounted(day: DayFills, { ended, open }: ListedOrders): readonly Uncounted[] {
  const { counts, fills, readAtMs, fromMs } = day;
  // What was dealt before is in what the account held when it was first read.
  const isCounted = (market: string, atMs: number) => atMs > heldToMs(counts, market);
  const late = new Map<number, ListedFilled>();
  const found = [
    // The exchange's clock may be ahead of this one.
    ...ended.filter(
      ({ market, endedAtMs }) =>
        isCounted(market, endedAtMs) && Math.abs(readAtMs - endedAtMs) < mostUnpricedMs,
    ),
    // When an open order has filled is not listed: it counts until its deals do, unless some of them are too old to be counted.
    ...open.filter(({ market, createdAtMs }) => isCounted(market, createdAtMs) && createdAtMs >= fromMs),
  ];
  for (const order of found)
    if (late.get(order.orderId)?.filled.gte(order.filled) !== true) late.set(order.orderId, order);
  return [...late.values()].flatMap(({ market, orderId, filled }) => {
    const counted = fills
      .filter((fill) => fill.market === market && fill.orderId === orderId)
      .reduce((sum, { amount }) => sum.plus(parseDecimal(amount)), zero);
    return filled.gt(counted) ? [{ market, orderId, filled, counted }] : [];
  });
}

/** What is not known for that reason, one sentence each. */
export function describeUncounted(uncounted: readonly Uncounted[]): readonly string[] {
  return uncounted.map(
    ({ market, orderId, filled, counted }) =>
      `order ${orderId} in ${market} has filled ${formatDecimal(filled)}, and deals of ${formatDecimal(counted)} are counted yet`,
  );
}
