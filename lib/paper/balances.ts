import { type Decimal, minimum, one, zero } from '../base/decimal.ts';
import type { Side } from '../model/order.ts';
import {
  type Balance,
  balanceOf,
  closesOnly,
  type ExchangeState,
  type PaperOrder,
  positionOf,
  positionToChange,
} from './exchange-state.ts';
import { marketNamed, type PaperMarket } from './markets.ts';

/** One fill of an order. */
export interface Fill {
  /** In base units. */
  readonly amount: Decimal;
  readonly price: Decimal;
  readonly feeRate: Decimal;
}

/** Decimal places of a quotient. The part that is cut off stays in the margin, so nothing is lost. */
const quotientPlaces = 8;

/**
 * Reserves funds for the given base units of the order. The difference moves between available and reserved
 * balance.
 *
 * A buy order reserves its notional at the limit price plus the taker fee, in the quote currency. A spot sell
 * order reserves the base currency. A perpetual order of either side reserves the quote currency.
 */
export function setHold(state: ExchangeState, order: PaperOrder, units: Decimal): void {
  const reserved = units.times(holdPerUnit(order));
  const balance = holdBalance(state, order);
  const more = reserved.minus(order.reserved);
  balance.available = balance.available.minus(more);
  balance.reserved = balance.reserved.plus(more);
  order.reserved = reserved;
  order.heldAmount = units;
}

export function canHold(state: ExchangeState, order: PaperOrder, units: Decimal): boolean {
  return units.times(holdPerUnit(order)).lte(holdBalance(state, order).available);
}

function holdPerUnit(order: PaperOrder): Decimal {
  const market = marketNamed(order.market);
  if (holdsBase(market, order.side)) return one;
  return order.price.times(one.plus(market.takerFeeRate));
}

function holdBalance(state: ExchangeState, order: PaperOrder): Balance {
  const market = marketNamed(order.market);
  return balanceOf(state, order.account, holdsBase(market, order.side) ? market.base : market.quote);
}

function holdsBase(market: PaperMarket, side: Side): boolean {
  return market.settlement === 'spot' && side === 'sell';
}

/**
 * The base units of an order for which funds must be reserved. Spot market: all of them. Perpetual: the part
 * that does not close the position. Other open orders of that side may already have claimed a part of the
 * position.
 */
export function amountToHold(state: ExchangeState, order: PaperOrder): Decimal {
  if (marketNamed(order.market).settlement === 'spot') return order.remaining;
  if (closesOnly(order)) return zero;
  const closable = closingPart(state, order, positionOf(state, order).amount.abs());
  const free = closable.minus(claimedByOthers(state, order));
  return free.gt(zero) ? order.remaining.minus(minimum(order.remaining, free)) : order.remaining;
}

/** The part of the amount that would close the order's current position. */
function closingPart(state: ExchangeState, order: PaperOrder, amount: Decimal): Decimal {
  const position = positionOf(state, order).amount;
  const isOpposite = order.side === 'buy' ? position.lt(zero) : position.gt(zero);
  return isOpposite ? minimum(amount, position.abs()) : zero;
}

function claimedByOthers(state: ExchangeState, order: PaperOrder): Decimal {
  let claimed = zero;
  for (const other of state.open.values())
    if (isRival(other, order) && !isSecondLeg(state, other))
      claimed = claimed.plus(other.remaining.minus(other.heldAmount));
  return claimed;
}

function isRival(other: PaperOrder, order: PaperOrder): boolean {
  return (
    other.orderId !== order.orderId &&
    other.account === order.account &&
    other.market === order.market &&
    other.positionSide === order.positionSide &&
    other.side === order.side
  );
}

/** Only one leg of a pair can fill, so only its stop-loss claims the position and reserves funds. */
function isSecondLeg(state: ExchangeState, order: PaperOrder): boolean {
  return order.ocoId !== null && state.pairs.get(order.ocoId)?.takeProfitId === order.orderId;
}

/**
 * The part of a fill, in base units, that the account can pay for.
 *
 * Reserved funds cover every spot fill. A perpetual order may need more than was reserved: another order may
 * have closed its position, or it fills above its limit. The part that cannot be paid for is not opened. An
 * order that can only close a position never opens one.
 */
export function affordableAmount(state: ExchangeState, order: PaperOrder, fill: Fill): Decimal {
  const market = marketNamed(order.market);
  if (market.settlement === 'spot') return fill.amount;
  const closing = closingPart(state, order, fill.amount);
  const opening = fill.amount.minus(closing);
  if (opening.eq(zero)) return fill.amount;
  if (closesOnly(order)) return closing;
  const freed = order.heldAmount.minus(heldAfter(order, fill.amount, opening)).times(holdPerUnit(order));
  const cost = opening.plus(fill.amount.times(fill.feeRate)).times(fill.price);
  const { available } = balanceOf(state, order.account, market.quote);
  return cost.lte(available.plus(freed)) ? fill.amount : closing;
}

function heldAfter(order: PaperOrder, filled: Decimal, opened: Decimal): Decimal {
  const held = order.heldAmount.minus(opened);
  return held.gt(zero) ? minimum(held, order.remaining.minus(filled)) : zero;
}

/**
 * Settles a fill against the counterparty and charges the fee in the quote currency.
 *
 * @returns the fee, in the quote currency
 */
export function settleFill(state: ExchangeState, order: PaperOrder, fill: Fill): Decimal {
  const market = marketNamed(order.market);
  const quote = balanceOf(state, order.account, market.quote);
  const fee = fill.amount.times(fill.price).times(fill.feeRate);
  if (market.settlement === 'spot') settleSpot(state, order, fill);
  else settlePerpetual(state, order, fill);
  quote.available = quote.available.minus(fee);
  add(state.fees, market.quote, fee);
  return fee;
}

function settleSpot(state: ExchangeState, order: PaperOrder, { amount, price }: Fill): void {
  const market = marketNamed(order.market);
  setHold(state, order, order.heldAmount.minus(amount));
  const baseGained = order.side === 'buy' ? amount : amount.times(minusOne);
  payFromCounterparty(state, order.account, market.base, baseGained);
  payFromCounterparty(state, order.account, market.quote, baseGained.times(price).times(minusOne));
}

const minusOne = one.times('-1');

/**
 * First closes, then opens, at leverage 1: the margin is the full notional of the position at opening.
 *
 * Liquidation is not modelled: a short that loses more than its margin makes the available balance negative.
 */
function settlePerpetual(state: ExchangeState, order: PaperOrder, { amount, price }: Fill): void {
  const closing = closingPart(state, order, amount);
  const opening = amount.minus(closing);
  setHold(state, order, heldAfter(order, amount, opening));
  if (closing.gt(zero)) closePosition(state, order, closing, price);
  if (opening.gt(zero)) openPosition(state, order, opening, price);
}

function closePosition(state: ExchangeState, order: PaperOrder, closing: Decimal, price: Decimal): void {
  const { quote } = marketNamed(order.market);
  const position = positionToChange(state, order);
  const size = position.amount.abs();
  const margin = closing.eq(size)
    ? position.margin
    : position.margin.times(closing).div(size).round(quotientPlaces, 0);
  const worth = closing.times(price);
  const profit = order.side === 'sell' ? worth.minus(margin) : margin.minus(worth);
  position.margin = position.margin.minus(margin);
  position.amount = order.side === 'buy' ? position.amount.plus(closing) : position.amount.minus(closing);
  const balance = balanceOf(state, order.account, quote);
  balance.available = balance.available.plus(margin);
  payFromCounterparty(state, order.account, quote, profit);
}

function openPosition(state: ExchangeState, order: PaperOrder, opening: Decimal, price: Decimal): void {
  const balance = balanceOf(state, order.account, marketNamed(order.market).quote);
  const position = positionToChange(state, order);
  const margin = opening.times(price);
  balance.available = balance.available.minus(margin);
  position.margin = position.margin.plus(margin);
  position.amount = order.side === 'buy' ? position.amount.plus(opening) : position.amount.minus(opening);
}

function payFromCounterparty(state: ExchangeState, account: string, ticker: string, amount: Decimal): void {
  const balance = balanceOf(state, account, ticker);
  balance.available = balance.available.plus(amount);
  add(state.counterparty, ticker, amount.times(minusOne));
}

function add(pot: Map<string, Decimal>, ticker: string, amount: Decimal): void {
  pot.set(ticker, (pot.get(ticker) ?? zero).plus(amount));
}
