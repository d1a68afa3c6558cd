import { type Decimal, zero } from '../../base/decimal.ts';
import { collateralAccountOf, type ExchangeState, type PaperOrder } from './exchange-state.ts';
import { canPay, freedBy, heldAfter } from './funds.ts';
import type { Position } from './position-records.ts';
import {
  closablePart,
  closesOnly,
  marginOf,
  positionAmountOf,
  positionKeyOf,
  positionOf,
} from './positions.ts';
import type { UnsettledFill } from './trade-records.ts';

/** Decimal places of a base price, which is a quotient. What is rounded off is lost to nobody: only profits are paid. */
const basePricePlaces = 8;
const halfUp = 1;

/**
 * The part of a fill, in base units, that the account can pay for.
 *
 * A part that closes the position always fills. The part that opens one may need more than was reserved, because
 * another order closed the position first or because the price is worse. It is opened whole or not at all. An order
 * that can only close a position never opens one.
 */
export function affordableOnCollateral(
  state: ExchangeState,
  order: PaperOrder,
  fill: UnsettledFill,
): Decimal {
  const account = collateralAccountOf(state, order.account);
  const position = positionOf(state, order);
  const closing = closablePart(position?.amount ?? zero, order.side, fill.amount);
  const opening = fill.amount.minus(closing);
  if (opening.eq(zero)) return fill.amount;
  if (closesOnly(order)) return closing;
  const before = position === undefined ? zero : marginOf(account, position);
  const after = marginOf(account, {
    market: order.market,
    ...enlarged(position, order, opening, fill.price),
  });
  const fee = fill.amount.times(fill.price).times(fill.feeRate);
  const freed = freedBy(state, order, heldAfter(order, fill.amount, opening));
  return canPay(state, order, after.minus(before).plus(fee).minus(freed)) ? fill.amount : closing;
}

type Size = Pick<Position, 'amount' | 'basePrice'>;

/** The size of a position after an order opened a part; one of the other direction counts as closed. */
function enlarged(position: Size | undefined, { side }: PaperOrder, opening: Decimal, price: Decimal): Size {
  const signed = side === 'buy' ? opening : opening.neg();
  if (position === undefined || position.amount.gt(zero) !== signed.gt(zero))
    return { amount: signed, basePrice: price };
  const amount = position.amount.plus(signed);
  const notional = position.amount.abs().times(position.basePrice).plus(opening.times(price));
  return { amount, basePrice: notional.div(amount.abs()).round(basePricePlaces, halfUp) };
}

/**
 * Changes the position of an order by a fill: first it closes, then it opens.
 *
 * @returns the profit of what it closed, in the quote currency
 */
export function settlePosition(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): Decimal {
  const closing = closablePart(positionAmountOf(state, order), order.side, fill.amount);
  const opening = fill.amount.minus(closing);
  const profit = closing.gt(zero) ? closePart(state, order, { ...fill, amount: closing }) : zero;
  if (opening.gt(zero)) openPart(state, order, { ...fill, amount: opening });
  return profit;
}

function closePart(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): Decimal {
  const position = positionOf(state, order);
  if (position === undefined) return zero;
  const { amount, price } = fill;
  const signed = position.amount.gt(zero) ? amount : amount.neg();
  const profit = price.minus(position.basePrice).times(signed);
  position.amount = position.amount.minus(signed);
  position.realizedPnl = position.realizedPnl.plus(profit);
  position.exited = {
    amount: position.exited.amount.plus(amount),
    notional: position.exited.notional.plus(amount.times(price)),
  };
  recordChange(state, order, position, fill, profit);
  if (position.amount.eq(zero)) archive(state, order, position);
  return profit;
}

function openPart(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): void {
  const { amount, price, atMs } = fill;
  const position = positionOf(state, order) ?? createPosition(state, order, atMs);
  const size = enlarged(position.amount.eq(zero) ? undefined : position, order, amount, price);
  position.amount = size.amount;
  position.basePrice = size.basePrice;
  position.entered = {
    amount: position.entered.amount.plus(amount),
    notional: position.entered.notional.plus(amount.times(price)),
  };
  recordChange(state, order, position, fill, zero);
}

function createPosition(state: ExchangeState, order: PaperOrder, atMs: number): Position {
  const position: Position = {
    positionId: state.nextPositionId,
    market: order.market,
    side: order.positionSide,
    openedAtMs: atMs,
    modifiedAtMs: atMs,
    amount: zero,
    basePrice: zero,
    realizedPnl: zero,
    fees: zero,
    entered: { amount: zero, notional: zero },
    exited: { amount: zero, notional: zero },
  };
  state.nextPositionId += 1;
  const { positions } = collateralAccountOf(state, order.account);
  positions.set(positionKeyOf(order.market, order.positionSide), position);
  return position;
}

function recordChange(
  state: ExchangeState,
  order: PaperOrder,
  position: Position,
  { amount, price, feeRate, atMs }: UnsettledFill,
  profit: Decimal,
): void {
  const fee = amount.times(price).times(feeRate);
  position.fees = position.fees.plus(fee);
  position.modifiedAtMs = atMs;
  state.positionEvents.push({
    positionId: position.positionId,
    account: order.account,
    market: position.market,
    side: position.side,
    isHedged: collateralAccountOf(state, order.account).isHedged,
    openedAtMs: position.openedAtMs,
    atMs,
    amount: position.amount,
    basePrice: position.amount.eq(zero) ? zero : position.basePrice,
    orderId: order.orderId,
    tradeAmount: amount,
    tradePrice: price,
    tradeFee: fee,
    realizedPnl: profit.minus(fee),
  });
}

function archive(state: ExchangeState, order: PaperOrder, position: Position): void {
  const { positions, isHedged } = collateralAccountOf(state, order.account);
  positions.delete(positionKeyOf(position.market, position.side));
  state.closedPositions.push({
    positionId: position.positionId,
    account: order.account,
    market: position.market,
    side: position.side,
    isHedged,
    entered: position.entered,
    exited: position.exited,
    realizedPnl: position.realizedPnl,
    fees: position.fees,
    openedAtMs: position.openedAtMs,
    closedAtMs: position.modifiedAtMs,
  });
}
