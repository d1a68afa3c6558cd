import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import { mayHide } from '../exchange/listed.ts';
import { type BookMove, replayFills } from '../limits/replay-fills.ts';
import { bookFill, bookKeyOf, type CostPosition } from '../model/average-cost.ts';
import { currenciesInName } from '../model/market.ts';
import { mostClockAheadMs } from './account-deals.ts';
import type { DayFills } from './day-profit.ts';
import type { PositionsReading } from './read-positions.ts';
import { amountIn, isBack, isSmaller, type Reduction, reductionMarginMs } from './reductions.ts';

/**
 * The reductions of which no deal is known yet: the list of deals may lag behind that of the positions, and until it shows
 * them nobody knows what they have lost.
 *
 * What a position must be follows from the last reading and the fills since then. Those of the last seconds may be missing
 * from this reading or from that one: a position is reduced only when it is smaller than with any of them.
 */
export function findUnexplained(day: DayFills, now: PositionsReading): readonly Reduction[] {
  const { held, isSpot } = day;
  if (held === null) return [];
  const { moves } = replayFills(day.books, day.fills, day.sinceMs, isSpot, day.first);
  const byKey = Map.groupBy(moves, ({ key }) => key);
  const pending = held.unexplained.filter(
    (one) => !isBack(one, now) && !isExplained(one, byKey.get(bookKey(one)) ?? []),
  );
  const known = new Set(pending.map(bookKey));
  const found = listPlaces(held, now, moves).flatMap((place) => {
    const key = bookKey(place);
    if (known.has(key) || isSpot(place.market)) return [];
    return findReduced(place, byKey.get(key) ?? [], { day, held, now }) ?? [];
  });
  return [...pending, ...found];
}

/** What is not known for that reason, one sentence each. */
export function describeUnexplained(reductions: readonly Reduction[]): readonly string[] {
  return reductions.map(
    ({ market, from, to }) =>
      `the position in ${market} went from ${formatDecimal(from)} to ${formatDecimal(to)}, and the exchange lists no deal yet that says at which price`,
  );
}

type Place = Pick<Reduction, 'market' | 'positionSide'>;

function bookKey({ market, positionSide }: Place): string {
  return bookKeyOf(market, positionSide);
}

/** The positions that were held, and those that fills have changed since, where every record can be read. */
function listPlaces(
  held: PositionsReading,
  now: PositionsReading,
  moves: readonly BookMove[],
): readonly Place[] {
  const listed = [...held.positions, ...now.positions];
  const hedged = new Set(
    listed.flatMap(({ market, positionSide }) => (positionSide === 'BOTH' ? [] : [market])),
  );
  const traded = moves.map(
    ({ fill }): Place => ({ market: fill.market, positionSide: fill.positionSide ?? 'BOTH' }),
  );
  const places = [...held.positions, ...traded].filter(
    ({ market, positionSide }) =>
      !mayHide([...held.hidden, ...now.hidden], market) &&
      // A deal of no signal does not say which side of hedge mode it changed.
      !(positionSide === 'BOTH' && hedged.has(market)),
  );
  return [...new Map(places.map((place) => [bookKey(place), place])).values()];
}

/** What {@link findReduced} compares. */
interface Compared {
  readonly day: DayFills;
  readonly held: PositionsReading;
  readonly now: PositionsReading;
}

function findReduced(
  { market, positionSide }: Place,
  moves: readonly BookMove[],
  { day, held, now }: Compared,
): Reduction | null {
  const before = held.positions.find((one) => one.market === market && one.positionSide === positionSide);
  const to = amountIn(now, market, positionSide);
  const from = before?.amount ?? zero;
  // Fills from before these may be missing: that nothing was held is known until something is dealt.
  const isOld = held.readAtMs < day.fromMs;
  if (isOld && !from.eq(zero)) return null;
  const changedAt = before?.modifiedAtMs ?? null;
  const span = changedAt === null ? spanOf(held, isOld) : { fromMs: changedAt, untilMs: changedAt };
  const initial = day.books.get(bookKeyOf(market, positionSide))?.amount ?? zero;
  const starts = listStarts(moves, from, span, initial);
  const firstEnd = firstAfter(moves, now.readAtMs - longestPositionLagMs);
  const possible = starts.flatMap((start) => [
    ...listAmounts(from, moves.slice(start), day.isSpot).slice(Math.max(firstEnd - start, 0)),
    ...listEarlier(from, moves.slice(firstEnd, start)),
  ]);
  if (!possible.every((amount) => isSmaller(amount, to))) return null;
  const nearest = possible.reduce((one, other) => (other.abs().lt(one.abs()) ? other : one));
  const changedAtMs = Math.max(before?.modifiedAtMs ?? 0, moves.at(-1)?.fill.atMs ?? 0) || null;
  const times = { sinceMs: held.wholeAtMs, seenAtMs: now.readAtMs, changedAtMs };
  return { market, positionSide, from: nearest, to, ...times };
}

/** The times at which a reading may have been taken, on the exchange's clock. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** It is dated on the relay's clock, and the list may lag behind. */
function spanOf({ readAtMs }: PositionsReading, isOld: boolean): Span {
  if (isOld) return { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
  return {
    fromMs: readAtMs - longestPositionLagMs - mostClockAheadMs,
    untilMs: readAtMs + mostClockAheadMs,
  };
}

/** The places in the fills at which the reading may have been taken: what stands before is in it, and nothing else. */
function listStarts(
  moves: readonly BookMove[],
  held: Decimal,
  { fromMs, untilMs }: Span,
  initial: Decimal,
): readonly number[] {
  const [first, last] = [firstAfter(moves, fromMs), firstAfter(moves, untilMs)];
  const all = Array.from({ length: last - first + 1 }, (_, count) => first + count);
  const fitting = all.filter((place) => (moves[place - 1]?.after ?? initial).eq(held));
  return fitting.length > 0 ? fitting : all;
}

/** The place of the first fill after a time; the number of fills when there is none. */
function firstAfter(moves: readonly BookMove[], atMs: number): number {
  const place = moves.findIndex(({ fill }) => fill.atMs > atMs);
  return place === -1 ? moves.length : place;
}

/** What the position is before and after each of these fills. */
function listAmounts(
  held: Decimal,
  moves: readonly BookMove[],
  isSpot: (market: string) => boolean,
): readonly Decimal[] {
  const books = new Map<string, CostPosition>();
  const amounts = [held];
  for (const { fill, key } of moves) {
    if (amounts.length === 1) books.set(key, { amount: held, cost: zero });
    const currencies = currenciesInName(fill.market);
    bookFill(books, fill, { key, currencies, isSpot: isSpot(fill.market), onlyReduces: false });
    amounts.push(books.get(key)?.amount ?? zero);
  }
  return amounts;
}

/** What the position was before fills of the last seconds: this reading may be older than the one in which they were seen. */
function listEarlier(held: Decimal, late: readonly BookMove[]): readonly Decimal[] {
  let amount = held;
  return late.toReversed().map(({ fill }) => {
    const traded = parseDecimal(fill.amount);
    amount = fill.side === 'buy' ? amount.minus(traded) : amount.plus(traded);
    return amount;
  });
}

/** Whether known fills have reduced the position by as much since. */
function isExplained({ from, to, sinceMs, changedAtMs }: Reduction, moves: readonly BookMove[]): boolean {
  const side = from.gt(zero) ? 'sell' : 'buy';
  const sum = moves
    .filter(({ fill }) => fill.side === side && fill.atMs > (changedAtMs ?? sinceMs - reductionMarginMs))
    .reduce((whole, { fill }) => whole.plus(parseDecimal(fill.amount)), zero);
  return sum.gte(from.minus(to).abs());
}
