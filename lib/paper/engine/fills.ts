import { type Decimal, floorToStep, minimum, zero } from '../../base/decimal.ts';
import { isQuoteSized } from '../../model/order.ts';
import { recordDeal } from './deals.ts';
import { type ExchangeState, isSpotOrder, type PaperOrder } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import { moveOrder } from './order-life.ts';
import { closablePart, positionAmountOf } from './positions.ts';
import { affordableAmount, feeAssetOf, settleFill } from './settlement.ts';
import {
  endedForPosition,
  endOrder,
  endUnfillable,
  keepOneLeg,
  placeDueExits,
} from './stop-loss-take-profit.ts';
import type { UnsettledFill } from './trade-records.ts';

/** A fill that is offered to an order. */
export interface OfferedFill {
  /** The most base units; null: as many as the order wants. */
  readonly most: Decimal | null;
  readonly price: Decimal;
  readonly role: UnsettledFill['role'];
  readonly atMs: number;
}

/** The base units that an order still wants at a price; for one sized in quote units what the rest of its money buys. */
export function wantedAt(order: PaperOrder, price: Decimal): Decimal {
  if (!isQuoteSized(order)) return order.remaining;
  return floorToStep(order.remaining.div(price), marketNamed(order.market).amountStep);
}

/**
 * Fills an open order as far as it wants to and can pay. An order that cannot pay is cancelled. A fill
 * places the stop-loss and take-profit that are due then.
 *
 * @returns the base units that were filled
 */
export function fillOrder(state: ExchangeState, order: PaperOrder, offered: OfferedFill): Decimal {
  const { most, price, role, atMs } = offered;
  const asked = wantedAt(order, price);
  const wanted = most === null ? asked : minimum(asked, most);
  if (wanted.eq(zero)) return zero;
  keepOneLeg(state, order, atMs);
  const { makerFeeRate, takerFeeRate } = marketNamed(order.market);
  const fill = { price, role, feeRate: role === 'maker' ? makerFeeRate : takerFeeRate, atMs };
  const amount = affordableAmount(state, order, { ...fill, amount: wanted });
  if (amount.gt(zero)) bookFill(state, order, { ...fill, amount });
  if (amount.lt(wanted)) endUnfillable(state, order, atMs);
  else placeDueExits(state, order, atMs);
  if (amount.gt(zero) && !isSpotOrder(order)) endReduceOnly(state, order, atMs);
  return amount;
}

function bookFill(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): void {
  const fee = settleFill(state, order, fill);
  const notional = fill.amount.times(fill.price);
  order.remaining = order.remaining.minus(isQuoteSized(order) ? notional : fill.amount);
  order.filled = order.filled.plus(fill.amount);
  order.filledNotional = order.filledNotional.plus(notional);
  order.fee = order.fee.plus(fee);
  recordDeal(state, order, { ...fill, fee, feeAsset: feeAssetOf(order) });
  // An order sized in quote units may keep a rest too small to buy one more step: it counts as filled.
  const isFilled = wantedAt(order, fill.price).eq(zero);
  moveOrder(state, order, isFilled ? 'filled' : 'partially_filled', fill.atMs);
}

/** Cancels the reduce-only orders that find no position left to reduce. */
function endReduceOnly(state: ExchangeState, filled: PaperOrder, atMs: number): void {
  for (const order of [...state.open.values()]) {
    const isOfPosition =
      order.reduceOnly &&
      order.account === filled.account &&
      order.market === filled.market &&
      order.positionSide === filled.positionSide;
    if (!isOfPosition || !state.open.has(order.orderId)) continue;
    const closable = closablePart(positionAmountOf(state, order), order.side, order.remaining);
    if (closable.eq(zero)) endOrder(state, order, atMs, endedForPosition);
  }
}
