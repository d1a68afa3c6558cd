import type { Alarms } from '../../base/alarms.ts';
import { type Clock, hasPassed } from '../../base/clock.ts';

/** Less than the minute from one run of the reconciler to the next: what that raises in every run always passes. */
const windowMs = 45_000;

/**
 * Alarms of one process in which worker and reconciler may find the same unknown outcome at the same time, or the worker
 * the same one again and again while the store cannot be written: of a signal it is told once in 45 seconds.
 */
export function raiseUnknownOnce(alarms: Alarms, clock: Clock): Alarms {
  const toldAtMs = new Map<string, number>();
  return {
    raise(alarm, facts) {
      if (alarm.name === 'outcome_unknown') {
        const nowMs = clock.nowMs();
        for (const [key, atMs] of toldAtMs) if (hasPassed(atMs, windowMs, nowMs)) toldAtMs.delete(key);
        const key = JSON.stringify([facts['account'], facts['signalId']]);
        if (toldAtMs.has(key)) return;
        toldAtMs.set(key, nowMs);
      }
      alarms.raise(alarm, facts);
    },
  };
}
