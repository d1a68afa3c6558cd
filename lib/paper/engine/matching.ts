import { type Decimal, zero } from '../../base/decimal.ts';
import { recordPublicTrade } from './deals.ts';
import { type ExchangeState, lastPriceOf, type PaperOrder } from './exchange-state.ts';
import { fillOrder } from './fills.ts';
import { marketNamed } from './markets.ts';
import { enterBook } from './order-life.ts';
import { endedForBand, endOrder } from './stop-loss-take-profit.ts';
import { takeOffers } from './taking.ts';

/** One trade in the market, between others. */
export interface TradeCommand {
  readonly kind: 'trade';
  readonly atMs: number;
  readonly market: string;
  readonly price: Decimal;
  /** How much of the resting orders it can fill, in base units; null means unlimited. */
  readonly volume: Decimal | null;
}

/** A trade, and the volume left for the resting orders; null means unlimited. */
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
 * those whose limit price it crosses, or that have none, fill at the trade's price.
 *
 * @returns whether any order changed
 */
export function matchTrade(
  state: ExchangeState,
  { market, price, atMs, volume }: Omit<TradeCommand, 'kind'>,
): boolean {
  const print: Print = { market, price, atMs, volumeLeft: volume, touched: false };
  const side = price.lt(lastPriceOf(state, market)) ? 'sell' : 'buy';
  recordPublicTrade(state, market, { price, amount: volume ?? marketNamed(market).minAmount, side, atMs });
  state.prices.set(market, price);
  for (const order of ordersReached(state, print)) fillAsMaker(state, print, order);
  activateStops(state, print);
  return print.touched;
}

/**
 * Matches a new order against the book. An order without a trigger takes what it can. A stop-loss of its own that the
 * price has already passed is triggered.
 */
export function meetBook(state: ExchangeState, order: PaperOrder): void {
  if (!order.activated) return;
  const { market, createdAtMs: atMs } = order;
  takeOffers(state, order, atMs);
  activateStops(state, { market, price: lastPriceOf(state, market), atMs, volumeLeft: null, touched: false });
}

function ordersReached(state: ExchangeState, print: Print): PaperOrder[] {
  const reached = [...state.open.values()].filter(
    (order) => order.market === print.market && order.activated && isReached(order, print.price),
  );
  const distance = ({ price }: PaperOrder) => (price ?? print.price).minus(print.price).abs();
  return reached.sort((a, b) => distance(b).cmp(distance(a)) || a.arrival - b.arrival);
}

/** Whether a price is within the limit of an order; always for an order without one. */
function isReached({ side, price: limit }: PaperOrder, price: Decimal): boolean {
  if (limit === null) return true;
  return side === 'buy' ? limit.gte(price) : limit.lte(price);
}

function fillAsMaker(state: ExchangeState, print: Print, order: PaperOrder): void {
  // The fill of an earlier order in the list may have cancelled this one as the other leg of its pair.
  if (!state.open.has(order.orderId)) return;
  fill(state, print, order, { price: order.price ?? print.price, role: 'maker' });
}

/** A fill can place a stop-loss that this same trade triggers, so each round searches again. */
function activateStops(state: ExchangeState, print: Print): void {
  for (let stop = nextStopMet(state, print); stop !== undefined; stop = nextStopMet(state, print)) {
    enterBook(state, stop);
    print.touched = true;
    stop.updatedAtMs = print.atMs;
    if (stop.price === null) fillStopMarket(state, print, stop);
    // The part of the order that the trade's volume does not fill rests in the book.
    else if (isReached(stop, print.price)) fill(state, print, stop, { price: print.price, role: 'taker' });
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

/** It cannot rest: whatever the volume of the trade, the counterparty fills it whole at the trade's price. */
function fillStopMarket(state: ExchangeState, print: Print, stop: PaperOrder): void {
  fillOrder(state, stop, { most: null, price: print.price, role: 'taker', atMs: print.atMs });
  // After a great rise, the money of a buy may not pay for one step of the base currency.
  if (state.open.has(stop.orderId)) endOrder(state, stop, print.atMs, endedForBand);
}

function fill(
  state: ExchangeState,
  print: Print,
  order: PaperOrder,
  { price, role }: { readonly price: Decimal; readonly role: 'maker' | 'taker' },
): void {
  if (print.volumeLeft?.eq(zero)) return;
  print.touched = true;
  const filled = fillOrder(state, order, { most: print.volumeLeft, price, role, atMs: print.atMs });
  if (print.volumeLeft !== null) print.volumeLeft = print.volumeLeft.minus(filled);
}
