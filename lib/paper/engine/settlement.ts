import { type Decimal, zero } from '../../base/decimal.ts';
import { isQuoteSized } from '../../model/order.ts';
import {
  type Balance,
  balanceToChange,
  type ExchangeState,
  isSpotOrder,
  type PaperOrder,
  tradingAccountOf,
} from './exchange-state.ts';
import { balanceOf, heldAfter, setHold } from './funds.ts';
import { marketNamed } from './markets.ts';
import { affordableOnCollateral, settlePosition } from './position-fills.ts';
import { closablePart, positionAmountOf } from './positions.ts';
import type { UnsettledFill } from './trade-records.ts';

/** The part of a fill, in base units, that the account can pay for. A spot fill is paid whole or not at all. */
export function affordableAmount(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): Decimal {
  if (!isSpotOrder(order)) return affordableOnCollateral(state, order, fill);
  const cost = order.side === 'sell' ? fill.amount : fill.amount.times(fill.price);
  return cost.lte(balanceOf(state, order).available.plus(order.reserved)) ? fill.amount : zero;
}

/** The currency in which an order pays its fee: what a spot buy buys, else the quote currency. */
export function feeAssetOf(order: Pick<PaperOrder, 'type' | 'side' | 'market'>): string {
  const { base, quote } = marketNamed(order.market);
  return isSpotOrder(order) && order.side === 'buy' ? base : quote;
}

/**
 * Settles a fill against the counterparty and charges the fee.
 *
 * @returns the fee, in units of the order's fee asset
 */
export function settleFill(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): Decimal {
  const fee = isSpotOrder(order) ? settleSpot(state, order, fill) : settleCollateral(state, order, fill);
  add(state.fees, feeAssetOf(order), fee);
  return fee;
}

function settleSpot(
  state: ExchangeState,
  order: PaperOrder,
  { amount, price, feeRate }: UnsettledFill,
): Decimal {
  const { base, quote } = marketNamed(order.market);
  const { spot } = tradingAccountOf(state, order.account);
  const isBuy = order.side === 'buy';
  const used = isQuoteSized(order) ? amount.times(price) : amount;
  setHold(state, order, heldAfter(order, used, used));
  const gained = isBuy ? amount : amount.neg();
  const paid = gained.times(price);
  const fee = (isBuy ? amount : amount.times(price)).times(feeRate);
  change(spot, base, isBuy ? gained.minus(fee) : gained);
  change(spot, quote, isBuy ? paid.neg() : paid.neg().minus(fee));
  add(state.counterparty, base, gained.neg());
  add(state.counterparty, quote, paid);
  return fee;
}

/** Only profit and fee move the balance: the margin of a position stays in it. */
function settleCollateral(state: ExchangeState, order: PaperOrder, fill: UnsettledFill): Decimal {
  const { amount, price, feeRate } = fill;
  const opening = amount.minus(closablePart(positionAmountOf(state, order), order.side, amount));
  setHold(state, order, heldAfter(order, amount, opening));
  const profit = settlePosition(state, order, fill);
  const fee = amount.times(price).times(feeRate);
  const balance = balanceOf(state, order);
  balance.available = balance.available.plus(profit).minus(fee);
  add(state.counterparty, marketNamed(order.market).quote, profit.neg());
  return fee;
}

function change(balances: Map<string, Balance>, ticker: string, amount: Decimal): void {
  const balance = balanceToChange(balances, ticker);
  balance.available = balance.available.plus(amount);
}

function add(pot: Map<string, Decimal>, ticker: string, amount: Decimal): void {
  pot.set(ticker, (pot.get(ticker) ?? zero).plus(amount));
}
