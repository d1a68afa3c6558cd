import { describeReading, type PositionsReading, parseReading } from '../account/read-positions.ts';
import { describeReductions, parseReductions, type Reduction } from '../account/reductions.ts';
import { fieldsOf, type Json, numberIn, toJson } from '../base/json.ts';

/** What the watch of an account's positions keeps from one run to the next: the fact `positions`. */
export interface WatchState extends PositionsReading {
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

export function describeWatch({ alarmedAtMs, unexplained, unread, ...reading }: WatchState): Json {
  return {
    ...describeReading(reading),
    alarmedAtMs,
    unexplained: describeReductions(unexplained),
    ...(unread === null ? {} : { unread: toJson(unread) }),
  };
}

/** Null when nothing is stored, or nothing that can be read. */
export function parseWatch(fact: Json): WatchState | null {
  const reading = parseReading(fact);
  if (reading === null) return null;
  const { alarmedAtMs, unexplained, unread } = fieldsOf(fact);
  const [fromMs, untilMs] = [numberIn(fieldsOf(unread)['fromMs']), numberIn(fieldsOf(unread)['untilMs'])];
  const times = Object.entries(fieldsOf(alarmedAtMs)).flatMap(([key, time]) =>
    typeof time === 'number' ? [[key, time] as const] : [],
  );
  return {
    ...reading,
    alarmedAtMs: Object.fromEntries(times),
    unexplained: parseReductions(unexplained),
    unread: fromMs === null || untilMs === null ? null : { fromMs, untilMs },
  };
}
