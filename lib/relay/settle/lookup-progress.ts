import { hasPassed } from '../../base/clock.ts';
import type { LookupProgress } from '../../ledger/entry.ts';
import type { UnsettledResult } from './lookup-result.ts';

const notFoundNeeded = 4;
/** Lists lag by seconds; an order that no list shows for this long does not exist. */
const notFoundSpreadMs = 5 * 60_000;

/**
 * The pause doubles after each lookup, up to the longest; a lookup also happens whenever an alarm is due. While the exchange
 * cannot be read it stays the first one: what an outage has hidden is found within a minute after it.
 */
const firstPauseMs = 60_000;
const longestPauseMs = 60 * 60_000;
/** Subtracted from due times: runs start on the minute, but write due times some seconds after it. */
const earlyMs = 10_000;

/** The progress after one more lookup that did not find the order. */
export function addLookup(lookup: LookupProgress, result: UnsettledResult, nowMs: number): LookupProgress {
  const isNotFound = result.kind === 'not_found';
  return {
    ...lookup,
    count: lookup.count + 1,
    notFound: lookup.notFound + (isNotFound ? 1 : 0),
    // A time in the future was noted before the clock was set back.
    firstNotFoundAtMs: isNotFound
      ? Math.min(lookup.firstNotFoundAtMs ?? nowMs, nowMs)
      : lookup.firstNotFoundAtMs,
    lastAtMs: nowMs,
    finding: result.finding,
  };
}

/**
 * Whether enough lookups over enough time did not find the order, which proves that it does not exist.
 *
 * @see DECISIONS 45
 */
export function provesAbsence({ notFound, firstNotFoundAtMs, lastAtMs }: LookupProgress): boolean {
  return notFound >= notFoundNeeded && (lastAtMs ?? 0) - (firstNotFoundAtMs ?? 0) >= notFoundSpreadMs;
}

/**
 * Sets the time of the next lookup.
 *
 * @param result of the last one
 * @see DECISIONS 44
 */
export function scheduleLookup(
  lookup: LookupProgress,
  result: UnsettledResult,
  alarmAfterMs: number,
  nowMs: number,
): LookupProgress {
  const pauseMs = Math.min(firstPauseMs * 2 ** (countedIn(lookup, result) - 1), longestPauseMs);
  const nextMs = Math.min(nowMs + pauseMs, lookup.alarmedAtMs + alarmAfterMs);
  return { ...lookup, dueAtMs: Math.max(nextMs, nowMs + firstPauseMs) - earlyMs };
}

/** How many lookups count for the pause after the last one. */
function countedIn({ count, notFound }: LookupProgress, result: UnsettledResult): number {
  if (result.kind === 'not_found') return notFound;
  return result.isUnread === true ? 1 : count;
}

/** Whether it is time to repeat the alarm about the unknown outcome. */
export function isAlarmDue(lookup: LookupProgress, alarmAfterMs: number, nowMs: number): boolean {
  return hasPassed(lookup.alarmedAtMs, alarmAfterMs - earlyMs, nowMs);
}
