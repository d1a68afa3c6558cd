import { type Decimal, minimum, zero } from '../base/decimal.ts';
import { affordableAmount, settleFill } from './balances.ts';
import { type ExchangeState, lastPriceOf, type PaperOrder } from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import { enterBook, moveOrder } from './order-life.ts';
import { endUnfillable, keepOneLeg, placeStopLossAndTakeProfit } from './stop-loss-take-profit.ts';

/** One trade in the market, and the volume left for the resting orders; null means unlimited. */
interface Print {
  readonly market: string;
  readonly price: Decimal;
  readonly atMs: number;
  volumeLeft: Decimal | null;
  /** Whether any order changed. */
  touched: boolean;
}

/**
 * Matches a trade against the book. First, resting orders that its price reaches fill at their own prices:
 * those furthest from the price first, then the oldest. Then the stops that it triggers enter the book, and
 * those whose limit price it crosses fill at the trade's price.
 *
 * @returns whether any order changed
 */
export function matchTrade(
  state: ExchangeState,
  trade: {
    readonly market: string;
    readonly price: Decimal;
    readonly atMs: number;
    readonly volume: Decimal | null;
  },
): boolean {
  const print: Print = {
    market: trade.market,
    price: trade.price,
    atMs: trade.atMs,
    volumeLeft: trade.volume,
    touched: false,
  };
  state.prices.set(trade.market, trade.price);
  for (const order of ordersReached(state, print)) fillAsMaker(state, print, order);
  activateStops(state, print);
  return print.touched;
}

/**
 * Matches a new order against the last price. An order without a trigger that crosses the price fills at
 * once, whatever its size. A stop-loss of its own that the price has already passed is triggered.
 */
export function meetLastPrice(state: ExchangeState, order: PaperOrder): void {
  if (!order.activated) return;
  const { market, createdAtMs: atMs } = order;
  const print: Print = { market, price: lastPriceOf(state, market), atMs, volumeLeft: null, touched: false };
  takeIfMarketable(state, print, order);
  activateStops(state, print);
}

function ordersReached(state: ExchangeState, print: Print): PaperOrder[] {
  const reached = [...state.open.values()].filter(
    (order) => order.market === print.market && order.activated && isMarketable(order, print.price),
  );
  const distance = (order: PaperOrder) => order.price.minus(print.price).abs();
  return reached.sort((a, b) => distance(b).cmp(distance(a)) || a.arrival - b.arrival);
}

function isMarketable(order: PaperOrder, price: Decimal): boolean {
  return order.side === 'buy' ? order.price.gte(price) : order.price.lte(price);
}

function fillAsMaker(state: ExchangeState, print: Print, order: PaperOrder): void {
  // The fill of an earlier order in the list may have cancelled this one as the other leg of its pair.
  if (!state.open.has(order.orderId)) return;
  fillOrder(state, print, order, order.price, marketNamed(order.market).makerFeeRate);
}

/** A fill can place a stop-loss that this same trade triggers, so each round searches again. */
function activateStops(state: ExchangeState, print: Print): void {
  for (let stop = nextStopMet(state, print); stop !== undefined; stop = nextStopMet(state, print)) {
    enterBook(state, stop);
    print.touched = true;
    stop.updatedAtMs = print.atMs;
    takeIfMarketable(state, print, stop);
  }
}

function nextStopMet(state: ExchangeState, print: Print): PaperOrder | undefined {
  for (const order of state.open.values())
    if (order.market === print.market && !order.activated && isConditionMet(order, print.price)) return order;
  return undefined;
}

function isConditionMet(order: PaperOrder, price: Decimal): boolean {
  if (order.activationPrice === null) return false;
  return order.activationCondition === 'gte'
    ? price.gte(order.activationPrice)
    : price.lte(order.activationPrice);
}

/** The part of the order that the trade's volume does not fill rests in the book. */
function takeIfMarketable(state: ExchangeState, print: Print, order: PaperOrder): void {
  if (isMarketable(order, print.price))
    fillOrder(state, print, order, print.price, marketNamed(order.market).takerFeeRate);
}

function fillOrder(
  state: ExchangeState,
  print: Print,
  order: PaperOrder,
  price: Decimal,
  feeRate: Decimal,
): void {
  const wanted = print.volumeLeft === null ? order.remaining : minimum(order.remaining, print.volumeLeft);
  if (wanted.eq(zero)) return;
  print.touched = true;
  keepOneLeg(state, order, print.atMs);
  const amount = affordableAmount(state, order, { amount: wanted, price, feeRate });
  if (amount.gt(zero)) bookFill(state, print, order, { amount, price, feeRate });
  if (amount.lt(wanted)) endUnfillable(state, order, print.atMs);
  else if (order.status === 'filled') placeStopLossAndTakeProfit(state, order, print.atMs);
}

function bookFill(
  state: ExchangeState,
  print: Print,
  order: PaperOrder,
  fill: { readonly amount: Decimal; readonly price: Decimal; readonly feeRate: Decimal },
): void {
  const fee = settleFill(state, order, fill);
  order.remaining = order.remaining.minus(fill.amount);
  order.filled = order.filled.plus(fill.amount);
  order.filledNotional = order.filledNotional.plus(fill.amount.times(fill.price));
  order.fee = order.fee.plus(fee);
  if (print.volumeLeft !== null) print.volumeLeft = print.volumeLeft.minus(fill.amount);
  moveOrder(state, order, order.remaining.eq(zero) ? 'filled' : 'partially_filled', print.atMs);
}
