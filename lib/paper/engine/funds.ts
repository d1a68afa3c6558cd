import { ceilToStep, type Decimal, one, stepOfPlaces, zero } from '../../base/decimal.ts';
import { summaryOf } from './collateral.ts';
import {
  type Balance,
  balanceToChange,
  collateralAccountOf,
  type ExchangeState,
  isSpotOrder,
  type PaperOrder,
  tradingAccountOf,
} from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import { closablePart, closesOnly, leverageOf, positionAmountOf } from './positions.ts';

/** A margin is a quotient: it is rounded up to this step, so that a reserve never falls short. */
const quotientStep = stepOfPlaces(8);

/**
 * The funds that given units of an order reserve.
 *
 * A spot sell reserves the base currency, a spot buy the notional at its limit price; its fee is taken from what it
 * buys. An order on the collateral account reserves its margin and the taker fee, at its limit price or else at its
 * trigger price.
 *
 * @param units in the units of the order's amount
 */
function reserveFor(state: ExchangeState, order: PaperOrder, units: Decimal): Decimal {
  const price = order.price ?? order.activationPrice ?? zero;
  // The amount of a spot buy without a limit price is in quote units.
  if (isSpotOrder(order)) return units.times(order.side === 'sell' ? one : (order.price ?? one));
  return openingCost(state, order, units.times(price), units.times(price));
}

/** The margin of a notional that opens a position, and the taker fee of the whole notional. */
export function openingCost(
  state: ExchangeState,
  { account, market }: Pick<PaperOrder, 'account' | 'market'>,
  opened: Decimal,
  traded: Decimal,
): Decimal {
  const leverage = leverageOf(collateralAccountOf(state, account), market);
  return ceilToStep(opened.div(leverage), quotientStep).plus(traded.times(marketNamed(market).takerFeeRate));
}

/** The balance that an order reserves. */
export function balanceOf(state: ExchangeState, order: PaperOrder): Balance {
  const { base, quote } = marketNamed(order.market);
  const { spot, collateral } = tradingAccountOf(state, order.account);
  if (!isSpotOrder(order)) return balanceToChange(collateral.balances, quote);
  return balanceToChange(spot, order.side === 'sell' ? base : quote);
}

/** Reserves funds for the given units of the order; the difference moves between available and reserved balance. */
export function setHold(state: ExchangeState, order: PaperOrder, units: Decimal): void {
  const reserved = reserveFor(state, order, units);
  const balance = balanceOf(state, order);
  const more = reserved.minus(order.reserved);
  balance.available = balance.available.minus(more);
  balance.reserved = balance.reserved.plus(more);
  order.reserved = reserved;
  order.heldAmount = units;
}

/** Whether the account has the funds that these units need beyond what the order has reserved already. */
export function canHold(state: ExchangeState, order: PaperOrder, units: Decimal): boolean {
  return canPay(state, order, reserveFor(state, order, units).minus(order.reserved));
}

/** Whether the account can pay an amount of the currency that the order reserves. */
export function canPay(state: ExchangeState, order: PaperOrder, amount: Decimal): boolean {
  if (amount.lte(zero)) return true;
  const free = isSpotOrder(order)
    ? balanceOf(state, order).available
    : summaryOf(state, order.account).freeMargin;
  return amount.lte(free);
}

/**
 * The units of an order for which funds must be reserved. Spot: all of them. Collateral: the part that does not close
 * the position. Other open orders of that side may already have claimed a part of the position.
 */
export function amountToHold(state: ExchangeState, order: PaperOrder): Decimal {
  if (isSpotOrder(order)) return order.remaining;
  if (closesOnly(order)) return zero;
  const position = positionAmountOf(state, order);
  const closable = closablePart(position, order.side, position.abs());
  if (closable.eq(zero)) return order.remaining;
  const free = closable.minus(claimedByOthers(state, order));
  if (free.lte(zero)) return order.remaining;
  return order.remaining.gt(free) ? order.remaining.minus(free) : zero;
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
    !isSpotOrder(other) &&
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

/** The units for which funds stay reserved after a fill that opened a part of it. */
export function heldAfter(order: PaperOrder, filled: Decimal, opened: Decimal): Decimal {
  const held = order.heldAmount.minus(opened);
  const remaining = order.remaining.minus(filled);
  if (held.lte(zero)) return zero;
  return held.lt(remaining) ? held : remaining;
}

/** The funds that a change of the reserved units would free. */
export function freedBy(state: ExchangeState, order: PaperOrder, units: Decimal): Decimal {
  return order.reserved.minus(reserveFor(state, order, units));
}
