import { type Decimal, minimum, zero } from '../base/decimal.ts';
import { affordableAmount, settleFill } from './balances.ts';
import { marketNamed } from './markets.ts';
import { enterBook, moveOrder } from './order-life.ts';
import { endUnfillable, keepOneLeg, placeStopLossAndTakeProfit } from './stop-loss-take-profit.ts';
import { lastPriceOf, type PaperOrder, type World } from './world.ts';

/** One trade of the market at large, and how much of it is left for the orders here; null is without bounds. */
interface Print {
  readonly market: string;
  readonly price: Decimal;
  readonly atMs: number;
  volumeLeft: Decimal | null;
  /** Whether any order changed. */
  touched: boolean;
}

/**
 * Lets a trade meet the book: resting orders it reaches fill at their own prices, the furthest reached first and
 * then the oldest; after them the stops it sets off enter, and those whose limit it crosses take at its price.
 *
 * @returns whether it touched any order
 */
export function matchTrade(
  world: World,
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
  world.prices.set(trade.market, trade.price);
  for (const order of ordersReached(world, print)) fillAsMaker(world, print, order);
  activateStops(world, print);
  return print.touched;
}

/**
 * Lets a new order meet the last price: one that waits for no other and crosses it takes at once, whatever its size,
 * and exits that the price has passed already go off.
 */
export function meetLastPrice(world: World, order: PaperOrder): void {
  if (!order.activated) return;
  const { market, createdAtMs: atMs } = order;
  const print: Print = { market, price: lastPriceOf(world, market), atMs, volumeLeft: null, touched: false };
  takeIfMarketable(world, print, order);
  activateStops(world, print);
}

function ordersReached(world: World, print: Print): PaperOrder[] {
  const reached = [...world.open.values()].filter(
    (order) => order.market === print.market && order.activated && isMarketable(order, print.price),
  );
  const distance = (order: PaperOrder) => order.price.minus(print.price).abs();
  return reached.sort((a, b) => distance(b).cmp(distance(a)) || a.arrival - b.arrival);
}

function isMarketable(order: PaperOrder, price: Decimal): boolean {
  return order.side === 'buy' ? order.price.gte(price) : order.price.lte(price);
}

function fillAsMaker(world: World, print: Print, order: PaperOrder): void {
  // An order further up the list may have been the other leg of its pair.
  if (!world.open.has(order.orderId)) return;
  fillOrder(world, print, order, order.price, marketNamed(order.market).makerFeeRate);
}

/** Filling can place exits that this very trade sets off, so each round looks again. */
function activateStops(world: World, print: Print): void {
  for (let stop = nextStopMet(world, print); stop !== undefined; stop = nextStopMet(world, print)) {
    enterBook(world, stop);
    print.touched = true;
    stop.updatedAtMs = print.atMs;
    takeIfMarketable(world, print, stop);
  }
}

function nextStopMet(world: World, print: Print): PaperOrder | undefined {
  for (const order of world.open.values())
    if (order.market === print.market && !order.activated && isConditionMet(order, print.price)) return order;
  return undefined;
}

function isConditionMet(order: PaperOrder, price: Decimal): boolean {
  if (order.activationPrice === null) return false;
  return order.activationCondition === 'gte'
    ? price.gte(order.activationPrice)
    : price.lte(order.activationPrice);
}

/** What the trade's volume does not fill of it rests in the book from then on. */
function takeIfMarketable(world: World, print: Print, order: PaperOrder): void {
  if (isMarketable(order, print.price))
    fillOrder(world, print, order, print.price, marketNamed(order.market).takerFeeRate);
}

function fillOrder(world: World, print: Print, order: PaperOrder, price: Decimal, feeRate: Decimal): void {
  const wanted = print.volumeLeft === null ? order.remaining : minimum(order.remaining, print.volumeLeft);
  if (wanted.eq(zero)) return;
  print.touched = true;
  keepOneLeg(world, order, print.atMs);
  const amount = affordableAmount(world, order, { amount: wanted, price, feeRate });
  if (amount.gt(zero)) bookFill(world, print, order, { amount, price, feeRate });
  if (amount.lt(wanted)) endUnfillable(world, order, print.atMs);
  else if (order.status === 'filled') placeStopLossAndTakeProfit(world, order, print.atMs);
}

function bookFill(
  world: World,
  print: Print,
  order: PaperOrder,
  fill: { readonly amount: Decimal; readonly price: Decimal; readonly feeRate: Decimal },
): void {
  const fee = settleFill(world, order, fill);
  order.remaining = order.remaining.minus(fill.amount);
  order.filled = order.filled.plus(fill.amount);
  order.filledNotional = order.filledNotional.plus(fill.amount.times(fill.price));
  order.fee = order.fee.plus(fee);
  if (print.volumeLeft !== null) print.volumeLeft = print.volumeLeft.minus(fill.amount);
  moveOrder(world, order, order.remaining.eq(zero) ? 'filled' : 'partially_filled', print.atMs);
}
