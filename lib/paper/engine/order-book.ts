import { ceilToStep, type Decimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { Side } from '../../model/order.ts';
import { type ExchangeState, lastPriceOf, type PaperOrder } from './exchange-state.ts';
import { marketNamed } from './markets.ts';

/**
 * A price and the base units that are offered at it.
 *
 * @see DECISIONS 124
 */
export type BookLevel = readonly [price: Decimal, amount: Decimal];

export interface PaperBook {
  /** Cheapest first. */
  readonly asks: readonly BookLevel[];
  /** Dearest first. */
  readonly bids: readonly BookLevel[];
}

/** What a taker meets at one price: a resting order, or the counterparty's offer. */
export interface Offer {
  readonly price: Decimal;
  /** In base units. */
  readonly amount: Decimal;
  /** Null: the counterparty's. */
  readonly order: PaperOrder | null;
}

/** How many levels the counterparty quotes on each side. */
const levelCount = 60;
/** The distance between two levels, as a part of the last price. */
const levelGapRate = parseDecimal('0.001');
/** How much deeper each level is than the one before, as a part of the first. */
const growth = parseDecimal('0.04');

/**
 * The order book of a market: the resting orders of all accounts, and the quotes of the counterparty. These follow from
 * the last price alone: the first ask is the last price, the first bid one step below, and each further level is 0.1 %
 * away and deeper. The counterparty replaces what is taken at once.
 */
export function bookOf(state: ExchangeState, market: string): PaperBook {
  return {
    asks: mergeLevels(offersTo(state, market, 'buy')),
    bids: mergeLevels(offersTo(state, market, 'sell')),
  };
}

/** The best price for a taker of that side: the lowest ask for a buy, the highest bid for a sell. */
export function bestPriceFor(state: ExchangeState, market: string, side: Side): Decimal {
  return offersTo(state, market, side)[0]?.price ?? lastPriceOf(state, market);
}

/**
 * What a taker of that side meets, best first. At the same price, resting orders come first, the oldest before all.
 *
 * @param takerId the id of the order that takes, which is not in the book yet
 */
export function offersTo(
  state: ExchangeState,
  market: string,
  taker: Side,
  takerId: number | null = null,
): readonly Offer[] {
  const resting = [...state.open.values()].filter(
    (order) => order.market === market && order.orderId !== takerId && isResting(order),
  );
  const makers = resting.filter(({ side }) => side !== taker).map(offerOf);
  const rivals = resting.filter(({ side }) => side === taker).flatMap(({ price }) => price ?? []);
  const offers = [...makers, ...quotesTo(state, market, taker, rivals)];
  return offers.sort((a, b) => compareFor(taker, a.price, b.price) || rankOf(a) - rankOf(b));
}

function isResting({ activated, price }: PaperOrder): boolean {
  return activated && price !== null;
}

function offerOf(order: PaperOrder): Offer {
  return { price: order.price ?? zero, amount: order.remaining, order };
}

function rankOf({ order }: Offer): number {
  return order?.arrival ?? Number.POSITIVE_INFINITY;
}

/** Below zero when the first price is better for a taker of that side. */
function compareFor(taker: Side, a: Decimal, b: Decimal): number {
  return taker === 'buy' ? a.cmp(b) : b.cmp(a);
}

/**
 * The quotes of the counterparty.
 *
 * @param rivals the prices of resting orders of the taker's side. The counterparty did not fill those, so it has
 *   nothing to offer at such a price.
 */
function quotesTo(
  state: ExchangeState,
  market: string,
  taker: Side,
  rivals: readonly Decimal[],
): readonly Offer[] {
  const { priceStep } = marketNamed(market);
  const lastPrice = lastPriceOf(state, market);
  const gap = ceilToStep(lastPrice.times(levelGapRate), priceStep);
  const first = taker === 'buy' ? lastPrice : lastPrice.minus(priceStep);
  const [worstRival] = rivals.toSorted((a, b) => compareFor(taker, b, a));
  const quotes: Offer[] = [];
  let price = first;
  for (const amount of levelAmountsOf(market)) {
    const isCrossed = worstRival !== undefined && compareFor(taker, price, worstRival) <= 0;
    if (price.gt(zero) && !isCrossed) quotes.push({ price, amount, order: null });
    price = taker === 'buy' ? price.plus(gap) : price.minus(gap);
  }
  return quotes;
}

/** Market → the amounts of the counterparty's levels, which never change. */
const levelAmounts = new Map<string, readonly Decimal[]>();

function levelAmountsOf(market: string): readonly Decimal[] {
  const known = levelAmounts.get(market);
  if (known !== undefined) return known;
  const { amountStep, bookDepth } = marketNamed(market);
  const more = bookDepth.times(growth);
  const amounts = Array.from({ length: levelCount }, (_, level) =>
    ceilToStep(bookDepth.plus(more.times(String(level))), amountStep),
  );
  levelAmounts.set(market, amounts);
  return amounts;
}

/** Adds up neighbours of the same price. */
export function mergeLevels(offers: readonly Pick<Offer, 'price' | 'amount'>[]): readonly BookLevel[] {
  const levels: BookLevel[] = [];
  for (const { price, amount } of offers) {
    const last = levels.at(-1);
    if (last?.[0].eq(price)) levels[levels.length - 1] = [price, last[1].plus(amount)];
    else levels.push([price, amount]);
  }
  return levels;
}
