import {
  ceilToStep,
  type Decimal,
  floorToStep,
  maximum,
  minimum,
  one,
  parseDecimal,
  rateOfPercent,
} from '../base/decimal.ts';
import type { Account, TradingGround } from '../model/account.ts';
import type { Market } from '../model/market.ts';
import {
  isQuoteSized,
  type OrderRequest,
  type PositionSide,
  type Side,
  type SizedOrder,
} from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { OrderSignal, PriceOrDistance } from '../model/signal.ts';
import type { Draft } from '../orders/order-kind.ts';
import { kindNamed } from '../orders/order-kinds.ts';
import { cutSale } from './cut-sale.ts';
import {
  checkAmount,
  checkCollateralShare,
  checkExitPrices,
  checkPartSides,
  checkPrices,
  checkSpotFields,
  checkStopSide,
  checkTotal,
  checkTradable,
} from './size-checks.ts';
import { type AccountSize, type Holding, sizeFromAccount } from './size-from-account.ts';
import { checkSpotStop } from './spot-stop.ts';

/** What was read from the exchange to price and size an order; null: not needed. */
export interface Readings {
  readonly oppositePrice: Decimal | null;
  readonly holding: Holding | null;
}

/** What sizing needs besides the signal. */
export interface SizeContext {
  readonly market: Market;
  readonly account: Account;
  readonly tradesOn: TradingGround;
  readonly readings: Readings;
  /** Of the new order. */
  readonly clientOrderId: string;
}

/** An order that satisfies the rules of its market, or the denial by the rule that it breaks. */
export type Sized = ({ readonly ok: true } & SizedOrder) | { readonly ok: false; readonly denial: Denial };

/**
 * Turns a signal into an order that its market accepts. Rounding is toward safety: the order is never larger,
 * nor worse priced, than the signal asks for.
 *
 * - The amount is rounded down to the amount step. A size in the quote currency is first divided by the price at which
 *   the kind of order values one unit, unless the exchange takes the amount in the quote currency.
 * - The stop price and the limit price are rounded in the same direction, down for a buy and up for a sell,
 *   so that neither passes the other.
 * - The stop-loss and the take-profit are rounded so that they execute sooner: for a long position the
 *   stop-loss up and the take-profit down, for a short position the other way.
 * - A spot sale of a little more than is available, by at most the fee of what was bought, is cut to what is available.
 * - A missing limit price is set beyond the rounded stop price by the account's `limitOffset`: above it for a
 *   buy, below it for a sell. Rounding never moves it further away than that rate.
 *
 * @see DECISIONS 13
 */
export function sizeOrder(signal: OrderSignal, context: SizeContext): Sized {
  const { market, account, tradesOn, readings } = context;
  const { side } = signal;
  const misplaced =
    checkTradable(market, tradesOn) ??
    (tradesOn === 'spot'
      ? checkSpotFields(signal, market.name, account)
      : checkCollateralShare(signal, market));
  if (misplaced !== null) return denied(misplaced);
  const drafted = kindNamed(signal.orderType).draftOrder(signal, {
    account,
    tradesOn,
    oppositePrice: readings.oppositePrice,
    isQuoteSize: isQuoteSize(signal, tradesOn),
    roundPrice: (price) => roundEntry(side, price, market),
  });
  if (!drafted.ok) return drafted;
  const size = askedSize(signal, drafted.draft, context);
  return size.ok ? completeOrder(signal, drafted.draft, size, context) : size;
}

/** Whether the size is an amount of the quote currency. */
function isQuoteSize({ size, side }: OrderSignal, tradesOn: TradingGround): boolean {
  return size.unit === 'quote' || (size.unit === 'percent' && tradesOn === 'spot' && side === 'buy');
}

function askedSize(
  signal: OrderSignal,
  { unitPrice }: Draft,
  { market, readings }: SizeContext,
): AccountSize {
  const { size } = signal;
  switch (size.unit) {
    case 'base':
      return { ok: true, asked: parseDecimal(size.quantity), isQuote: false };
    case 'quote':
      return { ok: true, asked: parseDecimal(size.quoteQuantity), isQuote: true };
    case 'percent': {
      if (readings.holding === null) throw new RangeError('a share of a holding that was not read');
      const { takerFeeRate } = market;
      return sizeFromAccount({ ...signal, size }, readings.holding, { unitPrice, takerFeeRate });
    }
  }
}

function completeOrder(
  signal: OrderSignal,
  { unitPrice, entryPrice, ...draft }: Draft,
  { asked, isQuote, reduces }: Extract<AccountSize, { readonly ok: true }>,
  { market, tradesOn, readings, clientOrderId }: SizeContext,
): Sized {
  const { side, stp } = signal;
  const exits = roundStopLossAndTakeProfit(signal, entryPrice, market.priceStep);
  // On spot the exchange takes none with an order: the relay places the stop-loss when it has filled.
  const [stopLossAndTakeProfit, keptStop] = tradesOn === 'spot' ? [{}, exits.stopLoss] : [exits];
  const { price, activationPrice } = draft;
  const lowestEntry = minimum(entryPrice, activationPrice ?? entryPrice);
  // Elsewhere the exchange compares the stop-loss with the order's own price: here with a better one that was read.
  const fillsAt = tradesOn === 'spot' ? lowestEntry : bestEntry(side, entryPrice, readings.oppositePrice);
  const badPrice =
    checkPrices({ price, activationPrice, ...exits }, market) ??
    checkExitPrices(signal, lowestEntry, market) ??
    checkPartSides(signal, protectsLong(signal), entryPrice);
  if (badPrice !== null) return denied(badPrice);
  const isSizedInQuote = isQuoteSized({ type: draft.type, side });
  const askedBase = isQuote ? asked.div(unitPrice) : asked;
  const whole = isSizedInQuote
    ? floorToStep(asked, market.priceStep)
    : floorToStep(askedBase, market.amountStep);
  const amount = side === 'sell' ? cutSale(whole, readings.holding, market) : whole;
  const baseAmount = isSizedInQuote ? amount.div(unitPrice) : amount;
  const total = isSizedInQuote ? amount : amount.times(unitPrice);
  const onlyReduces = signal.reduceOnly === true || reduces !== undefined;
  const badSize =
    checkAmount(askedBase, baseAmount, market) ??
    checkTotal(total, market, onlyReduces) ??
    (exits.stopLoss === undefined || fillsAt === null
      ? null
      : checkStopSide(exits.stopLoss, protectsLong(signal), fillsAt, market)) ??
    (keptStop === undefined ? null : checkSpotStop(keptStop, baseAmount, market));
  if (badSize !== null) return denied(badSize);
  const positionSide = positionSideOf(signal, reduces?.positionSide);
  const order: OrderRequest = {
    ...draft,
    market: market.name,
    side,
    amount,
    ...stopLossAndTakeProfit,
    ...(positionSide === undefined ? {} : { positionSide }),
    // A spot sell reduces what is held in any case.
    ...(onlyReduces && tradesOn !== 'spot' ? { reduceOnly: true } : {}),
    ...(stp === undefined ? {} : { stp }),
    clientOrderId,
  };
  const best = bestFillOf(order);
  const notional = best?.gt(unitPrice) === true ? amount.times(best) : total;
  return {
    ok: true,
    order,
    baseAmount,
    notional,
    ...(keptStop === undefined ? {} : { keptStop }),
    ...(amount.eq(whole) ? {} : { cutFrom: whole }),
  };
}

/** Null when the order book was not read. */
function bestEntry(side: Side, entryPrice: Decimal, oppositePrice: Decimal | null): Decimal | null {
  if (oppositePrice === null) return null;
  return side === 'buy' ? minimum(entryPrice, oppositePrice) : maximum(entryPrice, oppositePrice);
}

/** A sell that waits for a trigger price can fill at it, above its limit price. */
function bestFillOf({ side, activationPrice }: OrderRequest): Decimal | undefined {
  return side === 'sell' ? activationPrice : undefined;
}

/** An account in one-way mode must not name a side, so `BOTH` is left out. */
function positionSideOf({ positionSide }: OrderSignal, reduced: PositionSide | undefined) {
  const side = positionSide === undefined || positionSide === 'BOTH' ? reduced : positionSide;
  return side === 'BOTH' ? undefined : side;
}

function roundEntry(side: Side, price: Decimal, { priceStep }: Market): Decimal {
  return side === 'buy' ? floorToStep(price, priceStep) : ceilToStep(price, priceStep);
}

type StopLossAndTakeProfit = Pick<OrderRequest, 'stopLoss' | 'takeProfit'>;

function roundStopLossAndTakeProfit(
  signal: OrderSignal,
  entryPrice: Decimal,
  step: Decimal,
): StopLossAndTakeProfit {
  const { stopLoss, takeProfit } = signal;
  const isLong = protectsLong(signal);
  const [roundLoss, roundProfit] = isLong ? [ceilToStep, floorToStep] : [floorToStep, ceilToStep];
  const below = (rate: Decimal) => entryPrice.times(one.minus(rate));
  const above = (rate: Decimal) => entryPrice.times(one.plus(rate));
  const [lossAt, profitAt] = isLong ? [below, above] : [above, below];
  return {
    ...(stopLoss === undefined ? {} : { stopLoss: roundLoss(priceOf(stopLoss, lossAt), step) }),
    ...(takeProfit === undefined ? {} : { takeProfit: roundProfit(priceOf(takeProfit, profitAt), step) }),
  };
}

/** @param priceAt the price at a distance from the entry, as a rate */
function priceOf(text: PriceOrDistance, priceAt: (rate: Decimal) => Decimal): Decimal {
  return text.endsWith('%') ? priceAt(rateOfPercent(text)) : parseDecimal(text);
}

/**
 * Whether stop-loss and take-profit protect a long position: the named one, or else the one that the order
 * opens.
 */
function protectsLong({ side, positionSide }: OrderSignal): boolean {
  return positionSide === 'LONG' || (positionSide !== 'SHORT' && side === 'buy');
}

function denied(denial: Denial): Sized {
  return { ok: false, denial };
}
