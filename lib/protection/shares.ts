import { type Decimal, minimum, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import type { AttachedExits } from '../model/holdings.ts';
import { type HedgeSide, isMarkedReducing, type Side } from '../model/order.ts';
import { leftOf } from './left-of.ts';
import { withRestSold } from './spot-claims.ts';
import { isGuardedBuy, sellable, spotLots } from './spot-lots.ts';

/** A position as it was read. */
export interface GuardedPosition {
  readonly market: string;
  /** Of hedge mode; null in one-way mode. */
  readonly side: HedgeSide | null;
  /** In base units: above zero for a long position, below zero for a short one, zero without one. */
  readonly amount: Decimal;
  /** On the exchange's clock; null when it does not say. */
  readonly openedAtMs: number | null;
  /** The exits that the list of positions shows beside it; absent: none. */
  readonly tpsl?: AttachedExits | null;
  /** Present if it is what of a spot balance can be protected, which is not opened by any order alone. */
  readonly isSpot?: true;
  /**
   * On spot: all that is held for the market, in base units. Unlike the amount, it has what orders of others hold; it has nothing of
   * what belongs to other markets with the same base currency. Absent: not known.
   */
  readonly balance?: Decimal;
}

/** The part of a position that an order opened and that is left of it. */
export interface Share {
  readonly record: OrderRecord;
  /** Of the order. */
  readonly side: Side;
  /** In base units; zero when nothing of it is left. */
  readonly amount: Decimal;
}

/**
 * Shares a position among the orders of this relay that opened it. What reduced it is counted against the oldest orders
 * first, unless a stop-loss or take-profit did: that belongs to its own order. What others opened belongs to none. On spot
 * the balance does not tell what an order opened from what the owner holds besides: there the sales of this relay count. What
 * a resting sale is to sell comes last there: where the balance has no more, that sale holds it.
 *
 * @param records of the account, oldest first, with the orders that protect them
 * @returns newest first; also orders of which nothing is left
 */
export function shareOut(records: readonly OrderRecord[], position: GuardedPosition): readonly Share[] {
  if (position.isSpot === true) return shareOutSpot(records, position);
  let rest = position.amount.abs();
  return records.toReversed().flatMap((record) => {
    const side = openingSide(record, position);
    if (side === null) return [];
    const isOfPosition =
      isLongOrShort(position.amount, side) && !record.exitsEnded && mayBeOf(record, position);
    const amount = isOfPosition ? minimum(leftOf(record, records), rest) : zero;
    rest = rest.minus(amount);
    return [{ record, side, amount }];
  });
}

function shareOutSpot(
  records: readonly OrderRecord[],
  { market, amount }: GuardedPosition,
): readonly Share[] {
  const lots = spotLots(records, market);
  const free = spotLots(withRestSold(records), market);
  const buys = records.toReversed().filter((record) => lots.has(record.signalId) && isGuardedBuy(record));
  const amountIn = (parts: ReadonlyMap<string, Decimal>, { signalId }: OrderRecord) =>
    parts.get(signalId) ?? zero;
  let rest = buys.reduce((sum, buy) => minimum(sum.plus(amountIn(free, buy)), amount), zero);
  let ofHeld = amount.minus(rest);
  return buys.map((record) => {
    const own = amountIn(free, record);
    const part = minimum(own, rest);
    const beside = minimum(amountIn(lots, record).minus(own), ofHeld);
    rest = rest.minus(part);
    ofHeld = ofHeld.minus(beside);
    return { record, side: 'buy', amount: sellable(part.plus(beside), record.spot) };
  });
}

function isLongOrShort(amount: Decimal, side: Side): boolean {
  return side === 'buy' ? amount.gt(zero) : amount.lt(zero);
}

/** Null for an order that opens no position of this market and side. */
function openingSide(record: OrderRecord, { market, side }: GuardedPosition): Side | null {
  const { asked, protects, status } = record;
  if (status !== 'placed' || record.market !== market || protects !== null) return null;
  if (record.spot !== null) return null;
  if (asked === null || isMarkedReducing(asked)) return null;
  return side !== null && asked.positionSide !== side ? null : asked.side;
}

/** Whether an order may be about the side of a position: in one-way mode there is one, and an order need not name it. */
export function isOfSide(
  { side }: Pick<GuardedPosition, 'side'>,
  { positionSide }: { readonly positionSide?: string | undefined },
): boolean {
  return side === null || positionSide === undefined || positionSide === side;
}

/** Whether an order may have filled in a position: one that was opened after its end is another one. */
export function mayBeOf(
  { endedAtMs, updatedAtMs }: Pick<OrderRecord, 'endedAtMs' | 'updatedAtMs'>,
  { openedAtMs }: Pick<GuardedPosition, 'openedAtMs'>,
): boolean {
  if (openedAtMs === null || endedAtMs === null) return true;
  return openedAtMs <= Math.max(endedAtMs, updatedAtMs) + longestPositionLagMs;
}
