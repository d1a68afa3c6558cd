import { type Decimal, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord, sentOrCreatedAtMs } from '../ledger/order-record.ts';
import { hasFilled } from '../model/execution.ts';
import { type OpenPosition, placeOf } from '../model/holdings.ts';
import { isOrderEnd, type PositionSide } from '../model/order.ts';
import type { OrderReport } from '../model/step-facts.ts';
import type { SeenPosition } from './seen-position.ts';

/**
 * The last order of this relay in a market that may have changed the position.
 *
 * @see DECISIONS 152
 */
export interface LastOrder {
  readonly signalId: string;
  /** When its response, or what became of it later, was stored. */
  readonly answeredAtMs: number;
  /** When it ended, or filled last, on the exchange's clock; null when nobody said. */
  readonly endedAtMs: number | null;
  /** What the position must be after it; null when nobody read the position before it, or when it may still fill. */
  readonly expected: SeenPosition | null;
  /** What the fills of this relay's orders that are known leave open: signed, in base units; absent: not known. */
  readonly left?: Decimal;
}

/**
 * The last order of this relay in a market, and what is known of fills after its answer: of orders that had rested, and of
 * exits.
 *
 * @param entries of an account, oldest first
 */
export function findLastMoves(entries: readonly Entry[], market: string): readonly LastOrder[] {
  const records = listRecords(entries.filter(({ signal }) => signal?.market === market));
  const moved = records.filter((record) => mayHaveMoved(record) && !isUnfilled(record));
  const sent = lastSent(moved);
  const found = records.flatMap(findFillInCancel);
  if (sent === undefined) return withLeft([...records.flatMap(findFollowedFill), ...found], records);
  const last = describeSent(sent);
  // A close is answered seconds after it filled: what filled meanwhile comes after it, too.
  const sentAtMs = sentOrCreatedAtMs(sent);
  const followed = records.flatMap(findFollowedFill).filter(({ answeredAtMs }) => answeredAtMs > sentAtMs);
  const foundSince = found.filter(({ answeredAtMs }) => answeredAtMs > last.answeredAtMs);
  return withLeft([last, ...followed, ...foundSince], records);
}

function withLeft(moves: readonly LastOrder[], records: readonly OrderRecord[]): readonly LastOrder[] {
  const planned = moves.length === 1 ? (moves[0]?.expected?.amount ?? null) : null;
  const left = planned ?? sumOf(records.map(openedBy));
  return withoutTies(moves).map((move) => ({ ...move, left }));
}

/** What an order and its exits have added to the position, as far as their fills are known: signed, in base units. */
function openedBy(record: OrderRecord): Decimal {
  const { side, exits, spot } = record;
  if (side === null || spot !== null) return zero;
  const sold = exits.map(({ order }) => parseDecimal(order?.filled ?? '0'));
  const opened = filledBy(record).minus(sumOf(sold));
  return side === 'buy' ? opened : opened.neg();
}

/** Whether an order names the other side of hedge mode, where it changes another position. */
export function isOfOtherSide({ signal }: Entry, side: PositionSide | null | undefined): boolean {
  const named = signal === null ? null : placeOf(signal).side;
  return named !== null && side === (named === 'LONG' ? 'SHORT' : 'LONG');
}

/**
 * The entries that can have changed a position: in hedge mode, none that names the other side.
 *
 * @param positions of the market
 */
export function entriesOfSide(
  entries: readonly Entry[],
  side: PositionSide | null | undefined,
  positions: readonly Pick<OpenPosition, 'positionSide'>[],
): readonly Entry[] {
  return isHedged(positions) ? entries.filter((entry) => !isOfOtherSide(entry, side)) : entries;
}

/** Whether each side is a position of its own. Without any position, nothing shows it. */
export function isHedged(positions: readonly Pick<OpenPosition, 'positionSide'>[]): boolean {
  return positions.some(({ positionSide }) => positionSide !== 'BOTH');
}

/**
 * The order that was sent last. The clock here may have been set back between two: where the exchange has said when it made the
 * last one, its clock decides.
 */
function lastSent(records: readonly OrderRecord[]): OrderRecord | undefined {
  // The sorts are stable: of two orders of one millisecond, the one that was stored later comes last.
  const inOrder = records.toSorted((one, other) => sentOrCreatedAtMs(one) - sentOrCreatedAtMs(other));
  const last = inOrder.at(-1);
  if (last?.reported?.createdAtMs == null) return last;
  const madeAtMs = ({ reported }: OrderRecord) => reported?.createdAtMs ?? 0;
  return inOrder.toSorted((one, other) => madeAtMs(one) - madeAtMs(other)).at(-1);
}

/** Of orders that ended in one millisecond a list may show the first alone, with the time of all. */
function withoutTies(moves: readonly LastOrder[]): readonly LastOrder[] {
  const isTied = (move: LastOrder) =>
    moves.some((other) => other !== move && other.endedAtMs === move.endedAtMs);
  return moves.map((move) => (isTied(move) ? { ...move, endedAtMs: null } : move));
}

/** Whether its order reached the exchange and was accepted there. One that was cancelled after that may have filled in part. */
function mayHaveMoved({ status, sentAtMs }: OrderRecord): boolean {
  return status === 'placed' || (status === 'cancelled' && sentAtMs !== null);
}

/**
 * Whether a cancellation found nothing filled, or its report said so: it rests, or has ended without a fill. A fill after the
 * response is as new to the list as that of an order which has rested for hours. What was gone when its rest was to be
 * cancelled may have filled all, whatever its response said.
 */
export function isUnfilled(record: OrderRecord): boolean {
  const { cancelled, reported, turnedTo, hadRest } = record;
  if (cancelled?.filled?.eq(zero) === true) return true;
  if (hadRest && endReportOf(record) === null) return false;
  return reported !== null && turnedTo === undefined && parseDecimal(reported.filled).eq(zero);
}

function describeSent(record: OrderRecord): LastOrder {
  const { signalId, answeredAtMs, hadRest, plannedOn, turnedTo } = record;
  if (turnedTo === null) return { signalId, answeredAtMs, endedAtMs: null, expected: null };
  const order = endReportOf(record);
  const moved = order === null ? null : parseDecimal(order.filled).times(order.side === 'buy' ? '1' : '-1');
  return {
    signalId,
    answeredAtMs,
    // What has turned the position filled after the order ended.
    endedAtMs: turnedTo === undefined ? lastFillOf(order, hadRest) : null,
    expected:
      plannedOn === null || moved === null
        ? null
        : { amount: turnedTo ?? parseDecimal(plannedOn.amount).plus(moved), side: plannedOn.side ?? null },
  };
}

/** When an order that has ended filled last, on the exchange's clock; null where it may have rested for a while before it was cancelled. */
function lastFillOf(order: OrderReport | null, hadRest: boolean): number | null {
  if (order === null) return null;
  const { status, createdAtMs, endedAtMs } = order;
  if (endedAtMs === null) return hadRest ? null : createdAtMs;
  const hasRested = status !== 'filled' && createdAtMs !== null && endedAtMs - createdAtMs > clockToleranceMs;
  return hasRested ? null : endedAtMs;
}

/** Null while the order may still fill, or when nobody reported it. */
function endReportOf({ reported }: OrderRecord): OrderReport | null {
  return reported !== null && isOrderEnd(reported.status) ? reported : null;
}

/** A clock that is further behind is not allowed for: otherwise a reading might never count. */
const longestClockErrorMs = 60_000;

/** A fill of an order that had rested, or of an exit, which the follower has stored. */
function findFollowedFill(record: OrderRecord): readonly LastOrder[] {
  const { signalId, followed, exits, readAtMs } = record;
  const own = endReportOf(record) === null ? followed : null;
  const filled = [own, ...exits.map(({ order }) => order)].filter(
    (order) => order !== null && hasFilled(order),
  );
  if (readAtMs === null || filled.length === 0) return [];
  // What ended later than it filled, as by a cancellation, has not moved the position by that.
  const ends = filled.map((order) => order?.filledAtMs ?? order?.endedAtMs ?? null);
  const endedAtMs = ends.every((end) => end !== null) ? Math.max(...ends) : null;
  // The follower also reads what has nothing to do with the fill, long after it.
  const latestMs = endedAtMs === null ? readAtMs : endedAtMs + longestPositionLagMs;
  // A clock that was behind when the fill was read, and is set right since, must not make it seem older.
  const earliestMs = endedAtMs === null ? readAtMs : Math.min(endedAtMs, readAtMs + longestClockErrorMs);
  const answeredAtMs = Math.max(Math.min(readAtMs, latestMs), earliestMs);
  return [{ signalId, answeredAtMs, endedAtMs, expected: null }];
}

/** A fill that a cancellation came too late for, and that nothing else has told yet. */
function findFillInCancel({ signalId, cancelled, followed, reported }: OrderRecord): readonly LastOrder[] {
  if (cancelled === null) return [];
  const told = [followed, reported].map((order) => parseDecimal(order?.filled ?? '0'));
  if (told.some((filled) => cancelled.filled?.lte(filled))) return [];
  return [{ signalId, answeredAtMs: cancelled.atMs, endedAtMs: null, expected: null }];
}

/** A reading of the positions, and when it began. */
export interface DatedPosition {
  readonly position: SeenPosition;
  readonly readAtMs: number;
  /** When the position changed last, on the exchange's clock; null when there is none. */
  readonly modifiedAtMs: number | null;
}

/** The times of orders and positions may come from several servers of the exchange. */
const clockToleranceMs = 1000;

/** So long a reading that contradicts an order is waited for: whether the exchange changes that time with every fill is not documented. */
const longestDoubtMs = 3 * longestPositionLagMs;

/**
 * Whether a reading shows what the last order did: it is what that order must have made of the position, the position has
 * changed since the order ended, or the reading began long enough after its answer.
 */
export function isTrusted(reading: DatedPosition, move: LastOrder): boolean {
  const { position, readAtMs, modifiedAtMs } = reading;
  const { answeredAtMs, expected, endedAtMs } = move;
  const waitMs = contradicts(reading, move) ? longestDoubtMs : longestPositionLagMs;
  if (readAtMs - answeredAtMs > waitMs) return true;
  if (endedAtMs !== null && modifiedAtMs !== null && modifiedAtMs >= endedAtMs) return true;
  // As large as expected by chance: another order, which nobody has followed yet, was filled before.
  return isExpected(position, expected) && !isOlder(reading, move);
}

/** Whether a reading is from before an order by the exchange's own times. */
function contradicts(reading: DatedPosition, move: LastOrder): boolean {
  const { expected } = move;
  const isOfOther = expected !== null && expected.side !== reading.position.side;
  return !isOfOther && !isExpected(reading.position, expected) && isOlder(reading, move);
}

/**
 * The last order of this relay, where a reading shows no position, and that order must have left one: the list may be from before
 * it, unless others have closed it since.
 *
 * @param moves the last ones of the market
 * @returns undefined where nothing is left, and once no list can be so late
 */
export function findMissed(
  { position, readAtMs }: DatedPosition,
  moves: readonly LastOrder[],
): LastOrder | undefined {
  if (!position.amount.eq(zero)) return undefined;
  const last = moves.findLast(({ endedAtMs }) => endedAtMs !== null);
  const isOpen = last?.left !== undefined && !last.left.eq(zero);
  return isOpen && readAtMs - last.answeredAtMs <= longestDoubtMs ? last : undefined;
}

function isOlder({ modifiedAtMs }: DatedPosition, { endedAtMs }: LastOrder): boolean {
  return endedAtMs !== null && modifiedAtMs !== null && endedAtMs - modifiedAtMs > clockToleranceMs;
}

function isExpected({ amount, side }: SeenPosition, expected: SeenPosition | null): boolean {
  return expected !== null && expected.side === side && expected.amount.eq(amount);
}
