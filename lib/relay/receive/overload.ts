import { hasPassed } from '../../base/clock.ts';
import { RelayError } from '../../base/errors.ts';
import type { Account } from '../../model/account.ts';

/**
 * How to treat one more alert over its account's limit of signals.
 *
 * @see DECISIONS 37
 */
export interface Overload {
  /** Whether so many alerts are over the limit that asking the sender to try again would only add to them. */
  readonly isFlood: boolean;
  /** Whether no alarm was raised within the last five minutes. */
  readonly isNews: boolean;
}

/** What of an account is counted: alerts that may open or enlarge a position, and those that cannot. */
export type Counted = 'openings' | 'reductions';

/** An alert that its account's limit of signals refuses. */
export class OverLimit extends RelayError {
  /** What the alert counts as. */
  readonly counted: Counted;

  /** @param count how many signals of that kind came in the last minute */
  constructor({ maxSignalsPerMinute }: Account, counted: Counted, count: number) {
    const which = counted === 'openings' ? 'signals' : 'signals that only reduce, cancel or protect';
    super('rate_limited', `${count} ${which} in the last minute; the account accepts ${maxSignalsPerMinute}`);
    this.counted = counted;
  }
}

/** Counts the alerts that one process refuses because their account is over its limit of signals. */
export interface OverloadWatch {
  note(account: Account, counted: Counted, nowMs: number): Overload;
}

const windowMs = 60_000;
/** Refusals within this time of an alarm raise no other. */
const alarmPauseMs = 5 * 60_000;

interface Seen {
  refusedAtMs: readonly number[];
  alarmedAtMs: number | null;
}

/** It is a flood once the refused alerts of a minute are as many as the signals that the account takes. */
export function createOverloadWatch(): OverloadWatch {
  const seenByCount = new Map<string, Seen>();
  return {
    note({ name, maxSignalsPerMinute }, counted, nowMs) {
      const key = `${name} ${counted}`;
      const seen = seenByCount.get(key) ?? { refusedAtMs: [], alarmedAtMs: null };
      seenByCount.set(key, seen);
      const most = maxSignalsPerMinute ?? Number.POSITIVE_INFINITY;
      const recent = seen.refusedAtMs.filter((atMs) => !hasPassed(atMs, windowMs, nowMs));
      const isFlood = recent.length >= most;
      // Beyond the bound, further times would change nothing and are not kept, so that memory stays bounded.
      seen.refusedAtMs = isFlood ? recent : [...recent, nowMs];
      const isNews = seen.alarmedAtMs === null || hasPassed(seen.alarmedAtMs, alarmPauseMs, nowMs);
      if (isNews) seen.alarmedAtMs = nowMs;
      return { isFlood, isNews };
    },
  };
}
