import { ceilToStep, type Decimal, floorToStep, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Account } from '../model/account.ts';
import type { Market } from '../model/market.ts';
import type { OrderKindName, OrderRequest, Side } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal, OrderSize } from '../model/signal.ts';
import type { DraftOf } from '../orders/order-kind.ts';
import { kindNamed } from '../orders/order-kinds.ts';

/** An order that satisfies the rules of its market, or the denial by the rule that it breaks. */
export type Sized =
  | { readonly ok: true; readonly order: OrderRequest }
  | { readonly ok: false; readonly denial: Denial };

/**
 * Turns a signal into an order that its market accepts. Rounding is toward safety: the order is never larger,
 * nor worse priced, than the signal asks for.
 *
 * - The amount is rounded down to the amount step. A size in the quote currency is first divided by the
 *   rounded limit price.
 * - The stop price and the limit price are rounded in the same direction, down for a buy and up for a sell,
 *   so that neither passes the other.
 * - The stop-loss and the take-profit are rounded so that they execute sooner: for a long position the
 *   stop-loss up and the take-profit down, for a short position the other way.
 * - A missing limit price is set beyond the rounded stop price by the account's `limitOffset`: above it for a
 *   buy, below it for a sell. Rounding never moves it further away than that rate.
 *
 * @param clientOrderId the client order id of the new order
 */
export function sizeOrder(
  signal: OrderSignal,
  market: Market,
  account: Account,
  clientOrderId: string,
): Sized {
  const { side, positionSide } = signal;
  const kind = kindNamed(signal.orderType);
  const drafted = kind.draftOrder(signal, account, (price) => roundEntry(side, price, market));
  if (!drafted.ok) return drafted;
  const { draft } = drafted;
  const stopLossAndTakeProfit = roundStopLossAndTakeProfit(signal, market.priceStep);
  const badMarketOrPrice =
    checkTradable(market) ?? checkPrices({ ...draft, ...stopLossAndTakeProfit }, market);
  if (badMarketOrPrice !== null) return denied(badMarketOrPrice);
  const price = kind.valuationPrice(draft);
  const asked = baseAmountOf(signal.size, price);
  const amount = floorToStep(asked, market.amountStep);
  const badSize = checkAmount(asked, amount, market) ?? checkTotal(amount.times(price), market);
  if (badSize !== null) return denied(badSize);
  const order: OrderRequest = {
    ...draft,
    market: market.name,
    side,
    amount,
    ...stopLossAndTakeProfit,
    ...(positionSide === undefined ? {} : { positionSide }),
    clientOrderId,
  };
  return { ok: true, order };
}

function roundEntry(side: Side, price: Decimal, { priceStep }: Market): Decimal {
  return side === 'buy' ? floorToStep(price, priceStep) : ceilToStep(price, priceStep);
}

type StopLossAndTakeProfit = Pick<OrderRequest, 'stopLoss' | 'takeProfit'>;

function roundStopLossAndTakeProfit(signal: OrderSignal, step: Decimal): StopLossAndTakeProfit {
  const { stopLoss, takeProfit } = signal;
  const [roundLoss, roundProfit] = isLong(signal) ? [ceilToStep, floorToStep] : [floorToStep, ceilToStep];
  return {
    ...(stopLoss === undefined ? {} : { stopLoss: roundLoss(parseDecimal(stopLoss), step) }),
    ...(takeProfit === undefined ? {} : { takeProfit: roundProfit(parseDecimal(takeProfit), step) }),
  };
}

/**
 * Whether stop-loss and take-profit protect a long position: the named one, or else the one that the order
 * opens.
 */
function isLong({ side, positionSide }: OrderSignal): boolean {
  return positionSide === 'LONG' || (positionSide !== 'SHORT' && side === 'buy');
}

function baseAmountOf(size: OrderSize, price: Decimal): Decimal {
  switch (size.unit) {
    case 'base':
      return parseDecimal(size.quantity);
    case 'quote':
      return parseDecimal(size.quoteQuantity).div(price);
  }
}

function denied(denial: Denial): Sized {
  return { ok: false, denial };
}

function checkTradable({ name, tradesEnabled, isCollateral }: Market): Denial | null {
  if (!tradesEnabled)
    return {
      rule: 'market_closed',
      limit: 'open',
      actual: 'closed',
      message: `${name} is closed for trading; wait until the exchange opens it, or trade another market`,
    };
  if (isCollateral) return null;
  return {
    rule: 'market_not_collateral',
    limit: 'collateral',
    actual: 'spot',
    message: `${name} is a spot market, but the order needs a collateral market; map the ticker to another market`,
  };
}

function checkPrices(
  { kind: _, ...prices }: DraftOf<OrderKindName> & StopLossAndTakeProfit,
  { name, quote, priceStep }: Market,
): Denial | null {
  const least = formatDecimal(priceStep);
  for (const [what, price] of Object.entries(prices)) {
    if (price === undefined || price.gt(zero)) continue;
    const actual = formatDecimal(price);
    const message = `${what} is ${actual} after rounding to steps of ${least} ${quote}; write a higher price for ${name}`;
    return { rule: 'price_rounds_to_zero', limit: least, actual, message };
  }
  return null;
}

function checkAmount(
  asked: Decimal,
  amount: Decimal,
  { name, base, amountStep, minAmount }: Market,
): Denial | null {
  const step = formatDecimal(amountStep);
  const least = formatDecimal(minAmount);
  if (amount.lte(zero)) {
    const actual = formatDecimal(asked.prec(8, 0));
    const message = `${actual} ${base} is less than one step of ${step}; raise the size for ${name}`;
    return { rule: 'amount_rounds_to_zero', limit: step, actual, message };
  }
  if (amount.gte(minAmount)) return null;
  const actual = formatDecimal(amount);
  const message = `${actual} ${base} is below the minimum of ${least}; raise the size for ${name}`;
  return { rule: 'min_amount', limit: least, actual, message };
}

function checkTotal(total: Decimal, { name, quote, minTotal, maxTotal }: Market): Denial | null {
  const actual = formatDecimal(total);
  if (total.lt(minTotal)) {
    const limit = formatDecimal(minTotal);
    const message = `the order is worth ${actual} ${quote}, below the minimum of ${limit}; raise the size for ${name}`;
    return { rule: 'min_total', limit, actual, message };
  }
  if (maxTotal === null || total.lte(maxTotal)) return null;
  const limit = formatDecimal(maxTotal);
  const message = `the order is worth ${actual} ${quote}, above the maximum of ${limit}; lower the size for ${name}`;
  return { rule: 'max_total', limit, actual, message };
}
