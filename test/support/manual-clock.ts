import type { Clock } from '../../lib/base/clock.ts';

/** A clock whose time moves by hand, or to the end of the shortest sleep as soon as the event loop has nothing else. */
export interface ManualClock extends Clock {
  /** Moves on (or back, when negative) and wakes whoever slept until then. */
  advance(durationMs: number): void;
  /** How long each sleep asked for, in the order they began. */
  readonly sleptMs: readonly number[];
}

interface Sleeper {
  readonly dueMs: number;
  wake(): void;
}

export function createManualClock(startMs: number): ManualClock {
  const sleptMs: number[] = [];
  const sleepers: Sleeper[] = [];
  let nowMs = startMs;

  function wakeDue(): void {
    for (const sleeper of sleepers.filter(({ dueMs }) => dueMs <= nowMs)) {
      sleepers.splice(sleepers.indexOf(sleeper), 1);
      sleeper.wake();
    }
  }

  function jumpToNext(): void {
    if (sleepers.length === 0) return;
    nowMs = Math.max(nowMs, Math.min(...sleepers.map(({ dueMs }) => dueMs)));
    wakeDue();
  }

  return {
    sleptMs,
    // A pause may end between two milliseconds; a clock tells whole ones.
    nowMs: () => Math.floor(nowMs),
    sleep: (durationMs) =>
      new Promise((resolve) => {
        sleptMs.push(durationMs);
        sleepers.push({ dueMs: nowMs + durationMs, wake: resolve });
        setImmediate(jumpToNext);
      }),
    advance(durationMs) {
      nowMs += durationMs;
      wakeDue();
    },
  };
}
