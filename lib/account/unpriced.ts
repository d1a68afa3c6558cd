import { type Decimal, formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { fieldsOf, type Json, numberIn } from '../base/json.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import { mayHide } from '../exchange/listed.ts';
import { type BookMove, replayFills } from '../limits/replay-fills.ts';
import { bookKeyOf, isFillOnSpot } from '../model/cost-books.ts';
import { isOfSignal } from '../model/execution.ts';
import { closingSideOf, type OpenPosition } from '../model/holdings.ts';
import { mostClockAheadMs } from './account-deals.ts';
import type { DayFills } from './day-profit.ts';
import { sameTimeMs } from './find-turned.ts';
import {
  describeChange,
  type HeldPlace,
  isSamePlace,
  isSmaller,
  type PositionChange,
  parseChange,
  positionIn,
} from './position-change.ts';
import { type PositionsReading, parseReading } from './read-positions.ts';

/**
 * A position that became smaller, was closed or turned, and of which no deal is counted yet that says at which price: the
 * list of deals may lag behind that of the positions. Until then nobody knows what it has lost.
 */
export interface Unpriced extends PositionChange {
  /** The deals that it waits for are later than this, on the exchange's clock. */
  readonly afterMs: number;
}

/** The last reading of the positions that is kept, and what had no price in it. */
export interface HeldPositions extends PositionsReading {
  readonly unpriced: readonly Unpriced[];
}

/**
 * How long what has no price is waited for. Lists lag for seconds; what has no price until then may never get one, and must not
 * stop an account for ever.
 */
export const mostUnpricedMs = 3 * 60_000;

/**
 * What a position must be follows from the last reading and from the fills since then. A reading may be without the fills of
 * the seconds before it, and a deal of no signal may be of the spot account, or of the other side of hedge mode: a position
 * counts as reduced only when it is smaller than with any of that.
 *
 * @param kept null: no reading of the positions was kept before
 */
export function findUnpriced(
  day: DayFills,
  kept: HeldPositions | null,
  now: PositionsReading,
): readonly Unpriced[] {
  const held = kept ?? beginningOf(day);
  if (held === null) return [];
  const { moves } = replayFills(day.books, day.fills, day.sinceMs, day.isSpot, day.first);
  const byKey = Map.groupBy(moves, ({ key }) => key);
  const movesOf = (place: HeldPlace) => byKey.get(bookKeyOf(place.market, place.positionSide)) ?? [];
  const waiting = held.unpriced.filter(
    (one) =>
      // A time in the future was noted before the clock was set back.
      Math.abs(now.readAtMs - one.seenAtMs) < mostUnpricedMs &&
      isSmaller(one.from, amountOf(positionIn(now.positions, one))) &&
      !isPriced(one, movesOf(one)),
  );
  const found = listPlaces(day, held, now, moves)
    .filter((place) => !waiting.some((one) => isSamePlace(one, place)))
    .flatMap((place) => findReduced(place, movesOf(place), { day, held, now }) ?? []);
  return [...waiting, ...found];
}

/** What the account held when it was first read; null when that is long ago, or when it was something. */
function beginningOf({ first }: DayFills): HeldPositions | null {
  if (first === null || first.books.size > 0) return null;
  return { readAtMs: first.atMs, wholeAtMs: first.atMs, positions: [], hidden: [], unpriced: [] };
}

/** What is not known for that reason, one sentence each. */
export function describeUnpriced(unpriced: readonly Unpriced[]): readonly string[] {
  return unpriced.map(({ market, positionSide, from, to }) => {
    const side = positionSide === 'BOTH' ? '' : `${positionSide} `;
    return `the ${side}position in ${market} went from ${formatDecimal(from)} to ${formatDecimal(to)}, and no deal is counted yet that says at which price`;
  });
}

/** What the fact `positions` keeps of them; nothing where there is none. */
export function keepUnpriced(unpriced: readonly Unpriced[]): { readonly [field: string]: Json } {
  if (unpriced.length === 0) return {};
  return { unpriced: unpriced.map(describeChange) };
}

/** The fact `positions`; null when nothing is stored, or nothing that can be read. */
export function parseHeld(fact: Json): HeldPositions | null {
  const reading = parseReading(fact);
  if (reading === null) return null;
  const { unpriced } = fieldsOf(fact);
  const kept = Array.isArray(unpriced) ? (unpriced as readonly Json[]) : [];
  return { ...reading, unpriced: kept.flatMap((one) => parseUnpriced(one) ?? []) };
}

function parseUnpriced(json: Json): Unpriced | null {
  const [change, afterMs] = [parseChange(json), numberIn(fieldsOf(json)['afterMs'])];
  return change === null || afterMs === null ? null : { ...change, afterMs };
}

function amountOf(position: OpenPosition | null): Decimal {
  return position?.amount ?? zero;
}

/** The positions that were held, and those that signals have changed since, where every record can be read. */
function listPlaces(
  { isSpot }: DayFills,
  held: PositionsReading,
  now: PositionsReading,
  moves: readonly BookMove[],
): readonly HeldPlace[] {
  const ofSignals = moves
    .map(({ fill }) => fill)
    .filter((fill) => isOfSignal(fill) && !isFillOnSpot(fill, isSpot));
  const changed = ofSignals.map(
    ({ market, positionSide }): HeldPlace => ({ market, positionSide: positionSide ?? 'BOTH' }),
  );
  // What a reading hid is kept as it was before; a position that may have been opened since is not known.
  const known = changed.filter(({ market }) => !mayHide(held.hidden, market));
  const places = [...held.positions, ...known].filter(({ market }) => !mayHide(now.hidden, market));
  return places.filter((place, index) => places.findIndex((one) => isSamePlace(one, place)) === index);
}

/** What {@link findReduced} compares. */
interface Compared {
  readonly day: DayFills;
  readonly held: PositionsReading;
  readonly now: PositionsReading;
}

function findReduced(
  place: HeldPlace,
  moves: readonly BookMove[],
  { day, held, now }: Compared,
): Unpriced | null {
  const [before, shown] = [positionIn(held.positions, place), positionIn(now.positions, place)];
  const [from, to] = [amountOf(before), amountOf(shown)];
  const shownFromMs = now.readAtMs - longestPositionLagMs;
  const changedAtMs = before?.modifiedAtMs ?? null;
  // Nothing has changed since, or this list is the older one.
  if (changedAtMs !== null && changedAtMs >= (shown?.modifiedAtMs ?? shownFromMs)) return null;
  // Fills before the first of these are missing. Where nothing was held, there were none: they end the watch's sleep.
  const isOld = held.readAtMs < day.fromMs;
  if (isOld && !from.eq(zero)) return null;
  const span = isOld ? always : spanOf(changedAtMs, held.readAtMs);
  const initial = amountIn(day, place);
  // Which of the deals by hand were of this position is not listed: all of them, those of one side, or none.
  const ofSome = [['sell', 'buy'], ['sell'], ['buy'], []].map((sides) =>
    moves.filter(({ fill }) => fill.role !== 'other' || sides.includes(fill.side)),
  );
  const possible = ofSome.flatMap((known) => {
    const firstEnd = firstAfter(known, shownFromMs);
    const exact = changedAtMs === null ? [] : [firstAfter(known, changedAtMs)];
    const starts = [...listStarts(known, from, span, initial), ...exact];
    return starts.flatMap((start) =>
      listAmounts(from, known.slice(start))
        .slice(Math.max(firstEnd - start, 0))
        .map((amount) => onItsSide(place, amount)),
    );
  });
  if (!possible.every((amount) => isSmaller(amount, to))) return null;
  const nearest = possible.reduce((one, other) => (other.abs().lt(one.abs()) ? other : one));
  const lastShownMs = moves[firstAfter(moves, shownFromMs) - 1]?.fill.atMs;
  const afterMs = Math.max(changedAtMs ?? 0, lastShownMs ?? 0) || span[0];
  return { ...place, from: nearest, to, seenAtMs: now.readAtMs, afterMs };
}

/** A position of hedge mode is closed by what would turn one of one-way mode. */
function onItsSide({ positionSide }: HeldPlace, amount: Decimal): Decimal {
  const isTurned = positionSide === 'LONG' ? amount.lt(zero) : positionSide === 'SHORT' && amount.gt(zero);
  return isTurned ? zero : amount;
}

function amountIn({ books }: DayFills, { market, positionSide }: HeldPlace): Decimal {
  return books.get(bookKeyOf(market, positionSide))?.amount ?? zero;
}

/** From when until when a reading may have been taken, on the exchange's clock. */
type Span = readonly [fromMs: number, untilMs: number];

const always: Span = [0, Number.MAX_SAFE_INTEGER];

/** The time of a position's last change may be somewhat before or after its deal's; without it, the list may lag behind. */
function spanOf(changedAtMs: number | null, readAtMs: number): Span {
  if (changedAtMs !== null) return [changedAtMs - sameTimeMs, changedAtMs + sameTimeMs];
  return [readAtMs - longestPositionLagMs - mostClockAheadMs, readAtMs + mostClockAheadMs];
}

/** The places in the fills at which the reading may have been taken: what stands before is in it, and nothing else. */
function listStarts(
  moves: readonly BookMove[],
  held: Decimal,
  [fromMs, untilMs]: Span,
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

/** What a position is before and after each of these fills. */
function listAmounts(held: Decimal, moves: readonly BookMove[]): readonly Decimal[] {
  const [first] = moves;
  if (first === undefined) return [held];
  const books = new Map([[first.key, { amount: held, cost: zero }]]);
  const fills = moves.map(({ fill }) => fill);
  const amounts = [held];
  let amount = held;
  for (const { key, after } of replayFills(books, fills, 0).moves) {
    if (key === first.key) amount = after;
    amounts.push(amount);
  }
  return amounts;
}

/** Whether known fills have reduced the position by as much since. */
function isPriced({ from, to, afterMs }: Unpriced, moves: readonly BookMove[]): boolean {
  const side = closingSideOf(from);
  const sum = moves
    .filter(({ fill }) => fill.side === side && fill.atMs > afterMs)
    .reduce((whole, { fill }) => whole.plus(parseDecimal(fill.amount)), zero);
  return sum.gte(from.minus(to).abs());
}
