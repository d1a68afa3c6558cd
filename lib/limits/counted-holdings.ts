import { type Decimal, sumOf, zero } from '../base/decimal.ts';
import { type OpenPosition, openingSideOf } from '../model/holdings.ts';
import {
  isMarkedReducing,
  type OrderRequest,
  type PositionSide,
  type Side,
  type SizedOrder,
} from '../model/order.ts';

/** A position as the limits count it. */
export type CountedPosition = Pick<OpenPosition, 'market' | 'amount' | 'positionSide'> & {
  /** What it is worth now, in USDT. */
  readonly notional: Decimal;
};

/** An order that is open, or that may be. */
export interface CountedOrder {
  readonly market: string;
  readonly side: Side;
  /** Absent or `BOTH` in one-way mode. */
  readonly positionSide?: PositionSide | undefined;
  /** What is left of it, in base units; null for an order that only reduces, by an amount that is not known. */
  readonly amount: Decimal | null;
  /** What is left of it, in USDT. */
  readonly notional: Decimal;
  /** Whether it can only reduce a position: it is marked so, or it is the stop-loss or take-profit of an entry. */
  readonly onlyReduces: boolean;
  /** Whether it waits in the book or for its trigger, so that another order may be carried out before it. */
  readonly rests: boolean;
}

/** What an account has at stake, as it was read at one time. */
export interface Exposure {
  readonly positions: readonly CountedPosition[];
  readonly orders: readonly CountedOrder[];
}

/** What of an order says which position it moves, and in which direction. */
export type SidedOrder = Pick<OrderRequest, 'market' | 'side' | 'positionSide'>;

/** The order that is checked. */
export interface CheckedOrder {
  readonly sized: SizedOrder;
  /** Its notional in USDT. */
  readonly notional: Decimal;
  readonly isSpot: boolean;
}

/**
 * Whether the order can only reduce what is at stake: it is marked so, it closes a side in hedge mode, it sells on spot,
 * or it is smaller than the position that it is against. Other orders of its own side count first, closing ones too: those
 * that may be filled before it.
 */
export function onlyReduces({ sized, isSpot }: CheckedOrder, exposure: Exposure): boolean {
  const { order, baseAmount } = sized;
  if (isSpot) return order.side === 'sell';
  if (isMarkedReducing(order)) return true;
  if (order.positionSide === 'LONG' || order.positionSide === 'SHORT') return false;
  const fillsNow = isFilledNow(order);
  const held = heldBefore(order, fillsNow, exposure).neg();
  if (held.lte(zero)) return false;
  const before = entriesBeside(order, exposure).filter(({ rests }) => !(rests && fillsNow));
  return sumOf(before.map(amountOf)).plus(baseAmount).lte(held);
}

/**
 * The same with the position that an order was planned on. Where that leaves more at stake than what was read for the limits,
 * the difference counts like an order that has just filled: one of the two readings may lag.
 *
 * @param planned above zero for a long position
 */
export function withPlanned(
  exposure: Exposure,
  { sized: { order, baseAmount }, notional }: CheckedOrder,
  planned: Decimal,
): Exposure {
  const seen = order.side === 'buy' ? planned : planned.neg();
  const filled = entriesBeside(order, exposure).filter(({ rests }) => !rests);
  const counted = heldBefore(order, isFilledNow(order), exposure).plus(sumOf(filled.map(amountOf)));
  const missing = seen.minus(counted);
  if (missing.lte(zero)) return exposure;
  const { market, side, positionSide } = order;
  // What closes a position that is listed still has its value counted there.
  const opened = seen.gt(missing) ? missing : seen;
  const unlisted: CountedOrder = {
    ...{ market, side, positionSide, amount: missing },
    notional: opened.gt(zero) ? opened.times(notional).div(baseAmount) : zero,
    onlyReduces: false,
    rests: false,
  };
  return { ...exposure, orders: [...exposure.orders, unlisted] };
}

/** The same without the positions that the order is against: what there is once they are closed. */
export function withoutOpposed(
  { positions, orders }: Exposure,
  { market, side }: Pick<SidedOrder, 'market' | 'side'>,
): Exposure {
  const kept = positions.filter((one) => one.market !== market || openingSideOf(one.amount) === side);
  return { positions: kept, orders };
}

/** Whether it waits for nothing: it has no trigger, and either no limit price or no time to rest. */
export function isFilledNow({ activationPrice, price, ioc }: OrderRequest): boolean {
  return activationPrice === undefined && (price === undefined || ioc === true);
}

/**
 * The position that orders of this side can lead to, in base units: every entry order that is open on the side and this
 * amount filled. The position itself counts if they enlarge it. If they are against it, only an order that is carried out
 * at once counts on it, and only on what no closing order may have taken from it: before one that rests, the position may
 * be closed.
 *
 * @param fillsNow whether the amount is that of an order that is carried out at once
 */
export function positionAfter(
  order: SidedOrder,
  { amount, fillsNow }: { readonly amount: Decimal; readonly fillsNow: boolean },
  exposure: Exposure,
): Decimal {
  const beside = sumOf(entriesBeside(order, exposure).map(amountOf));
  const held = heldBefore(order, fillsNow, exposure);
  return (held.lt(zero) && !fillsNow ? zero : held).plus(beside).plus(amount);
}

/** The notional of everything that is open, in USDT. Orders that only reduce add nothing. */
export function openNotionalOf({ positions, orders }: Exposure): Decimal {
  const entries = orders.filter((order) => !order.onlyReduces);
  return sumOf([...positions, ...entries].map(({ notional }) => notional));
}

/** The position that the order is for, as its side sees it: above zero when the order enlarges it. */
function signedFor(order: SidedOrder, { positions }: Exposure): Decimal {
  const held = sumOf(
    positions
      .filter((position) => position.market === order.market && isSameSide(order, position))
      .map(({ amount }) => amount),
  );
  return order.side === 'buy' ? held : held.neg();
}

/**
 * The position that the order is for, as its side sees it, less what closing orders of that side may have taken from it
 * before this one is filled. Those that rest wait for a price: an order that is carried out at once comes before them.
 */
function heldBefore(order: SidedOrder, fillsNow: boolean, exposure: Exposure): Decimal {
  const held = signedFor(order, exposure);
  if (held.gte(zero)) return held;
  const closing = ordersBeside(order, exposure).filter(
    (other) => other.onlyReduces && !(other.rests && fillsNow),
  );
  if (closing.some(({ amount }) => amount === null)) return zero;
  const left = held.plus(sumOf(closing.map(amountOf)));
  return left.gt(zero) ? zero : left;
}

function amountOf({ amount }: CountedOrder): Decimal {
  return amount ?? zero;
}

/** The open entry orders that would move the position in the same direction. */
function entriesBeside(order: SidedOrder, exposure: Exposure): readonly CountedOrder[] {
  return ordersBeside(order, exposure).filter((other) => !other.onlyReduces);
}

function ordersBeside(order: SidedOrder, { orders }: Exposure): readonly CountedOrder[] {
  return orders.filter(
    (other) => other.market === order.market && other.side === order.side && isSameSide(order, other),
  );
}

/** In hedge mode a market has a long and a short position, each with orders of its own. */
function isSameSide(
  { positionSide = 'BOTH' }: { readonly positionSide?: PositionSide | undefined },
  other: { readonly positionSide?: PositionSide | undefined },
): boolean {
  return (
    positionSide === 'BOTH' ||
    (other.positionSide ?? 'BOTH') === 'BOTH' ||
    positionSide === other.positionSide
  );
}
