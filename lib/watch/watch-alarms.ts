import type { Alarm, Alarms } from '../base/alarms.ts';
import { type Clock, hasPassed } from '../base/clock.ts';
import type { LogFacts } from '../base/log.ts';

/** When each alarm of an account's watch was last raised, by its key. */
export type AlarmTimes = Readonly<Record<string, number>>;

/** Raises alarms that come again only after an interval, and notes when they came. */
export interface RepeatedAlarms {
  /**
   * @param key names the alarm within the account
   * @param everyMs how long it is not repeated; 0: it is an event, and nothing is noted
   */
  raise(key: string, alarm: Alarm, facts: LogFacts, everyMs: number): void;
  /** Keeps the noted times of alarms whose cause was not looked at. */
  keep(prefix: string): void;
  /** What is noted: an alarm whose cause has gone is not among them, so it comes at once when the cause is back. */
  readonly times: AlarmTimes;
}

export function createRepeatedAlarms(
  { alarms, clock }: { readonly alarms: Alarms; readonly clock: Clock },
  account: string,
  before: AlarmTimes,
): RepeatedAlarms {
  const times: Record<string, number> = {};
  return {
    times,
    raise(key, alarm, facts, everyMs) {
      const nowMs = clock.nowMs();
      const lastMs = before[key];
      const isDue = lastMs === undefined || hasPassed(lastMs, everyMs, nowMs);
      if (isDue) alarms.raise(alarm, { account, ...facts });
      if (everyMs > 0) times[key] = isDue ? nowMs : lastMs;
    },
    keep(prefix) {
      for (const [key, timeMs] of Object.entries(before)) if (key.startsWith(prefix)) times[key] ??= timeMs;
    },
  };
}
