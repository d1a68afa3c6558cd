import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { endedOrder } from '../exchange/endpoints/ended-order.ts';
import type { EndedOrder } from '../exchange/list-account.ts';
import type { Order } from '../model/order.ts';
import type { DealSource } from './account-deals.ts';
import type { DayFills } from './day-profit.ts';

/** An order that has filled more than its counted deals: the list of deals may lag behind those of the orders. */
export interface Uncounted {
  readonly market: string;
  readonly orderId: number;
  /** In base units. */
  readonly filled: Decimal;
  readonly counted: Decimal;
}

/** No list lags as long. An order of which a deal is never counted must not stop an account for ever. */
const mostUncountedMs = 3 * 60_000;
const mostRead = 100;

/**
 * Reads the orders of the account that have ended of late, in all markets. Whether the exchange's dates of this list are those
 * of the end or of the beginning is not documented, so none is asked for.
 *
 * @throws ExchangeError when the list cannot be read
 */
export async function listEndedLately({ client, options }: DealSource): Promise<readonly EndedOrder[]> {
  return (await client.call(endedOrder, { limit: mostRead }, options)).records;
}

/**
 * Finds the orders whose profit or loss nobody knows yet: of those that have ended of late, and of those that are open and were
 * created of late. A position that was opened and closed since it was last read, by hand or by its stop-loss, is seen here
 * alone.
 */
export function findUncounted(
  day: DayFills,
  ended: readonly EndedOrder[],
  open: readonly Order[],
): readonly Uncounted[] {
  const { counts, fills, readAtMs } = day;
  const late = [
    ...ended.map(({ endedAtMs, ...order }) => ({ ...order, atMs: endedAtMs })),
    ...open.map(({ createdAtMs, ...order }) => ({ ...order, atMs: createdAtMs })),
  ];
  return late.flatMap(({ market, orderId, filled, atMs }) => {
    // The exchange's clock may be ahead of this one.
    const isOld = Math.abs(readAtMs - atMs) >= mostUncountedMs;
    // What was dealt before is in what the account held when it was first read.
    const isHeld = atMs < counts.sinceMs || atMs <= (counts.shownToMs.get(market) ?? 0);
    if (isOld || isHeld) return [];
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
