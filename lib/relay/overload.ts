import type { Account } from '../model/account.ts';

/** What is to be made of one more alert over its account's limit. */
export interface Overload {
  /** Whether the sender keeps coming far beyond the limit, so that asking it to come again only feeds the flood. */
  readonly isFlood: boolean;
  /** Whether nobody was told for a while. */
  readonly isNews: boolean;
}

/** Counts the alerts that one process refuses because their account is over its limit of signals. */
export interface OverloadWatch {
  note(account: Account, nowMs: number): Overload;
}

const windowMs = 60_000;
/** A run of refusals is one alarm. */
const alarmPauseMs = 5 * 60_000;

interface Seen {
  refusedAtMs: readonly number[];
  alarmedAtMs: number | null;
}

/** The bound of a minute: as many refused alerts as the account takes signals. */
export function createOverloadWatch(): OverloadWatch {
  const seenByAccount = new Map<string, Seen>();
  return {
    note({ name, maxSignalsPerMinute }, nowMs) {
      const seen = seenByAccount.get(name) ?? { refusedAtMs: [], alarmedAtMs: null };
      seenByAccount.set(name, seen);
      const most = maxSignalsPerMinute ?? Number.POSITIVE_INFINITY;
      const recent = seen.refusedAtMs.filter((atMs) => isWithin(windowMs, atMs, nowMs));
      const isFlood = recent.length >= most;
      // Beyond the bound a further one changes nothing: what is kept stays small.
      seen.refusedAtMs = isFlood ? recent : [...recent, nowMs];
      const isNews = seen.alarmedAtMs === null || !isWithin(alarmPauseMs, seen.alarmedAtMs, nowMs);
      if (isNews) seen.alarmedAtMs = nowMs;
      return { isFlood, isNews };
    },
  };
}

/** What lies in the future was written before the clock was set back, and proves nothing. */
function isWithin(durationMs: number, atMs: number, nowMs: number): boolean {
  return atMs <= nowMs && nowMs - atMs < durationMs;
}
