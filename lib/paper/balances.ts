import { type Decimal, minimum, one, zero } from '../base/decimal.ts';
import type { Side } from '../model/order.ts';
import { marketNamed, type PaperMarket } from './markets.ts';
import {
  type Balance,
  balanceOf,
  closesOnly,
  type PaperOrder,
  positionOf,
  positionToChange,
  type World,
} from './world.ts';

/** What one fill moves. */
export interface Fill {
  /** In base units. */
  readonly amount: Decimal;
  readonly price: Decimal;
  readonly feeRate: Decimal;
}

/** The longest a quotient may get; what is cut off stays in the margin, so nothing is lost. */
const quotientPlaces = 8;

/**
 * Holds funds for so many base units of the order, taking more from the available balance or giving some back.
 *
 * A purchase holds its worth at the limit price and the taker fee on it, in the quote currency; a spot sale holds the base currency.
 */
export function setHold(world: World, order: PaperOrder, units: Decimal): void {
  const reserved = units.times(holdPerUnit(order));
  const balance = holdBalance(world, order);
  const more = reserved.minus(order.reserved);
  balance.available = balance.available.minus(more);
  balance.reserved = balance.reserved.plus(more);
  order.reserved = reserved;
  order.heldAmount = units;
}

export function canHold(world: World, order: PaperOrder, units: Decimal): boolean {
  return units.times(holdPerUnit(order)).lte(holdBalance(world, order).available);
}

function holdPerUnit(order: PaperOrder): Decimal {
  const market = marketNamed(order.market);
  if (holdsBase(market, order.side)) return one;
  return order.price.times(one.plus(market.takerFeeRate));
}

function holdBalance(world: World, order: PaperOrder): Balance {
  const market = marketNamed(order.market);
  return balanceOf(world, order.account, holdsBase(market, order.side) ? market.base : market.quote);
}

function holdsBase(market: PaperMarket, side: Side): boolean {
  return market.settlement === 'spot' && side === 'sell';
}

/**
 * How much of an order must have funds held: all of it on a spot market; on a perpetual, what goes beyond closing
 * the position, of which other open orders of that side may have claimed their part already.
 */
export function amountToHold(world: World, order: PaperOrder): Decimal {
  if (marketNamed(order.market).settlement === 'spot') return order.remaining;
  if (closesOnly(order)) return zero;
  const closable = closingPart(world, order, positionOf(world, order).amount.abs());
  const free = closable.minus(claimedByOthers(world, order));
  return free.gt(zero) ? order.remaining.minus(minimum(order.remaining, free)) : order.remaining;
}

/** How much of the amount would close the order's present position. */
function closingPart(world: World, order: PaperOrder, amount: Decimal): Decimal {
  const position = positionOf(world, order).amount;
  const isOpposite = order.side === 'buy' ? position.lt(zero) : position.gt(zero);
  return isOpposite ? minimum(amount, position.abs()) : zero;
}

function claimedByOthers(world: World, order: PaperOrder): Decimal {
  let claimed = zero;
  for (const other of world.open.values())
    if (isRival(other, order) && !isSecondLeg(world, other))
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

/** Only one leg of a pair can ever fill: the stop-loss speaks, and holds, for both. */
function isSecondLeg(world: World, order: PaperOrder): boolean {
  return order.ocoId !== null && world.pairs.get(order.ocoId)?.takeProfitId === order.orderId;
}

/**
 * How much of a fill the account can pay for.
 *
 * Holds cover every spot fill. A perpetual order may find its position closed by another order, or fill above its
 * limit, and then needs more than was held; what cannot be paid for is not opened. An order that can only close
 * never opens.
 */
export function affordableAmount(world: World, order: PaperOrder, fill: Fill): Decimal {
  const market = marketNamed(order.market);
  if (market.settlement === 'spot') return fill.amount;
  const closing = closingPart(world, order, fill.amount);
  const opening = fill.amount.minus(closing);
  if (opening.eq(zero)) return fill.amount;
  if (closesOnly(order)) return closing;
  const freed = order.heldAmount.minus(heldAfter(order, fill.amount, opening)).times(holdPerUnit(order));
  const cost = opening.plus(fill.amount.times(fill.feeRate)).times(fill.price);
  const { available } = balanceOf(world, order.account, market.quote);
  return cost.lte(available.plus(freed)) ? fill.amount : closing;
}

function heldAfter(order: PaperOrder, filled: Decimal, opened: Decimal): Decimal {
  const held = order.heldAmount.minus(opened);
  return held.gt(zero) ? minimum(held, order.remaining.minus(filled)) : zero;
}

/**
 * Moves what a fill moves, against the counterparty, and takes the fee in the quote currency.
 *
 * @returns the fee, in the quote currency
 */
export function settleFill(world: World, order: PaperOrder, fill: Fill): Decimal {
  const market = marketNamed(order.market);
  const quote = balanceOf(world, order.account, market.quote);
  const fee = fill.amount.times(fill.price).times(fill.feeRate);
  if (market.settlement === 'spot') settleSpot(world, order, fill);
  else settlePerpetual(world, order, fill);
  quote.available = quote.available.minus(fee);
  add(world.fees, market.quote, fee);
  return fee;
}

function settleSpot(world: World, order: PaperOrder, { amount, price }: Fill): void {
  const market = marketNamed(order.market);
  setHold(world, order, order.heldAmount.minus(amount));
  const baseGained = order.side === 'buy' ? amount : amount.times(minusOne);
  payFromCounterparty(world, order.account, market.base, baseGained);
  payFromCounterparty(world, order.account, market.quote, baseGained.times(price).times(minusOne));
}

const minusOne = one.times('-1');

/**
 * Closes first, then opens, at leverage 1: margin is the full worth of the position at its opening.
 *
 * Liquidation is not modelled: a short that loses more than its margin takes the available balance below zero.
 */
function settlePerpetual(world: World, order: PaperOrder, { amount, price }: Fill): void {
  const closing = closingPart(world, order, amount);
  const opening = amount.minus(closing);
  setHold(world, order, heldAfter(order, amount, opening));
  if (closing.gt(zero)) closePosition(world, order, closing, price);
  if (opening.gt(zero)) openPosition(world, order, opening, price);
}

function closePosition(world: World, order: PaperOrder, closing: Decimal, price: Decimal): void {
  const { quote } = marketNamed(order.market);
  const position = positionToChange(world, order);
  const size = position.amount.abs();
  const margin = closing.eq(size)
    ? position.margin
    : position.margin.times(closing).div(size).round(quotientPlaces, 0);
  const worth = closing.times(price);
  const profit = order.side === 'sell' ? worth.minus(margin) : margin.minus(worth);
  position.margin = position.margin.minus(margin);
  position.amount = order.side === 'buy' ? position.amount.plus(closing) : position.amount.minus(closing);
  const balance = balanceOf(world, order.account, quote);
  balance.available = balance.available.plus(margin);
  payFromCounterparty(world, order.account, quote, profit);
}

function openPosition(world: World, order: PaperOrder, opening: Decimal, price: Decimal): void {
  const balance = balanceOf(world, order.account, marketNamed(order.market).quote);
  const position = positionToChange(world, order);
  const margin = opening.times(price);
  balance.available = balance.available.minus(margin);
  position.margin = position.margin.plus(margin);
  position.amount = order.side === 'buy' ? position.amount.plus(opening) : position.amount.minus(opening);
}

function payFromCounterparty(world: World, account: string, ticker: string, amount: Decimal): void {
  const balance = balanceOf(world, account, ticker);
  balance.available = balance.available.plus(amount);
  add(world.counterparty, ticker, amount.times(minusOne));
}

function add(pot: Map<string, Decimal>, ticker: string, amount: Decimal): void {
  pot.set(ticker, (pot.get(ticker) ?? zero).plus(amount));
}
