import type { LookupProgress } from '../ledger/entry.ts';
import type { LookupResult } from './look-up.ts';

const notFoundNeeded = 4;
/** Lists lag by seconds; an order that is in none of them for minutes is not coming. */
const notFoundSpreadMs = 5 * 60_000;

/** Lookups become ever more seldom, but are never later than the alarm they may have to raise. */
const firstPauseMs = 60_000;
const longestPauseMs = 60 * 60_000;
/** A run begins on the minute and its lookups come a little later: what is due by then must be due to the run. */
const earlyMs = 10_000;

/** The progress after one more lookup that did not find the order. */
export function addLookup(
  lookup: LookupProgress,
  result: LookupResult & { kind: 'not_found' | 'inconclusive' },
  nowMs: number,
): LookupProgress {
  const isNotFound = result.kind === 'not_found';
  return {
    ...lookup,
    count: lookup.count + 1,
    notFound: lookup.notFound + (isNotFound ? 1 : 0),
    firstNotFoundAtMs: lookup.firstNotFoundAtMs ?? (isNotFound ? nowMs : null),
    lastAtMs: nowMs,
    finding: result.finding,
  };
}

/** Whether the order was not found often enough, and for long enough, to be sure that it does not exist. */
export function provesAbsence({ notFound, firstNotFoundAtMs, lastAtMs }: LookupProgress): boolean {
  return notFound >= notFoundNeeded && (lastAtMs ?? 0) - (firstNotFoundAtMs ?? 0) >= notFoundSpreadMs;
}

/** Sets the time of the next lookup. */
export function scheduleLookup(lookup: LookupProgress, alarmAfterMs: number, nowMs: number): LookupProgress {
  const pauseMs = Math.min(firstPauseMs * 2 ** (lookup.count - 1), longestPauseMs);
  const nextMs = Math.min(nowMs + pauseMs, lookup.alarmedAtMs + alarmAfterMs);
  return { ...lookup, dueAtMs: Math.max(nextMs, nowMs + firstPauseMs) - earlyMs };
}

/** Whether the alarm of the unknown outcome is to be raised again. */
export function isAlarmDue(lookup: LookupProgress, alarmAfterMs: number, nowMs: number): boolean {
  return nowMs - lookup.alarmedAtMs >= alarmAfterMs - earlyMs;
}
