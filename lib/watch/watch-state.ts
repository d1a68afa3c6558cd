import { describeChange, type PositionChange, parseChange } from '../account/position-change.ts';
import { describeReading } from '../account/read-positions.ts';
import { type HeldPositions, keepUnpriced, parseHeld } from '../account/unpriced.ts';
import { fieldsOf, type Json, numberIn, toJson } from '../base/json.ts';

/** What the watch of an account's positions keeps from one run to the next: the fact `positions`. */
export interface WatchState extends HeldPositions {
  /** When each alarm was last raised, by its key. */
  readonly alarmedAtMs: Readonly<Record<string, number>>;
  readonly unexplained: readonly Reduction[];
  readonly unread: UnreadTime | null;
}

/** A time in which nobody read an account, as while the relay was down: what happened in it is seen late. */
export interface UnreadTime {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** A position that became smaller between two readings. */
export interface Reduction extends PositionChange {
  /** When the position was last seen unreduced. */
  readonly sinceMs: number;
}

export function describeWatch({ alarmedAtMs, unexplained, unread, unpriced, ...reading }: WatchState): Json {
  return {
    ...describeReading(reading),
    alarmedAtMs,
    unexplained: unexplained.map(describeChange),
    ...(unread === null ? {} : { unread: toJson(unread) }),
    ...keepUnpriced(unpriced),
  };
}

/** Null when nothing is stored, or nothing that can be read. */
export function parseWatch(fact: Json): WatchState | null {
  const reading = parseHeld(fact);
  if (reading === null) return null;
  const { alarmedAtMs, unexplained, unread } = fieldsOf(fact);
  const [fromMs, untilMs] = [numberIn(fieldsOf(unread)['fromMs']), numberIn(fieldsOf(unread)['untilMs'])];
  const times = Object.entries(fieldsOf(alarmedAtMs)).flatMap(([key, time]) =>
    typeof time === 'number' ? [[key, time] as const] : [],
  );
  const reductions = Array.isArray(unexplained) ? (unexplained as readonly Json[]) : [];
  return {
    ...reading,
    alarmedAtMs: Object.fromEntries(times),
    unexplained: reductions.flatMap((reduction) => parseReduction(reduction) ?? []),
    unread: fromMs === null || untilMs === null ? null : { fromMs, untilMs },
  };
}

function parseReduction(json: Json): Reduction | null {
  const [change, sinceMs] = [parseChange(json), numberIn(fieldsOf(json)['sinceMs'])];
  return change === null || sinceMs === null ? null : { ...change, sinceMs };
}
