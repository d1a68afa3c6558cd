import type { Clock } from '../../lib/base/clock.ts';

/** A clock whose time moves by hand, while machine and network go on at their own pace. */
export interface ManualClock extends Clock {
  /** Moves on (or back, when negative) and wakes whoever slept until then. */
  advance(durationMs: number): void;
  /** How long each sleep asked for, in the order they began. */
  readonly sleptMs: readonly number[];
  /** Resolves as soon as somebody has gone to sleep since the last move: what they do first is done. */
  whenAsleep(): Promise<void>;
  /** From now on every sleep ends at once, and time stands: whoever sleeps can see that it shall stop. */
  letGo(): void;
}

interface Sleeper {
  readonly dueMs: number;
  wake(): void;
}

/** @param options `jumps`: to the end of the shortest sleep as soon as the event loop has nothing else (default) */
export function createManualClock(startMs: number, { jumps = true } = {}): ManualClock {
  const sleptMs: number[] = [];
  let sleepers: readonly Sleeper[] = [];
  let nowMs = startMs;
  let isLetGo = false;
  let asleep = Promise.withResolvers<void>();

  function wakeWhere(isDue: (sleeper: Sleeper) => boolean): void {
    const woken = sleepers.filter(isDue);
    sleepers = sleepers.filter((sleeper) => !woken.includes(sleeper));
    for (const { wake } of woken) wake();
  }

  function moveTo(timeMs: number): void {
    nowMs = timeMs;
    asleep = Promise.withResolvers();
    wakeWhere(({ dueMs }) => dueMs <= nowMs);
  }

  function jumpToNext(): void {
    if (sleepers.length > 0) moveTo(Math.max(nowMs, Math.min(...sleepers.map(({ dueMs }) => dueMs))));
  }

  return {
    sleptMs,
    // A pause may end between two milliseconds; a clock tells whole ones.
    nowMs: () => Math.floor(nowMs),
    async sleep(durationMs) {
      sleptMs.push(durationMs);
      asleep.resolve();
      if (isLetGo) return await new Promise((resolve) => setImmediate(resolve));
      await new Promise<void>((wake) => {
        sleepers = [...sleepers, { dueMs: nowMs + durationMs, wake }];
        if (jumps) setImmediate(jumpToNext);
      });
    },
    advance: (durationMs) => moveTo(nowMs + durationMs),
    whenAsleep: () => asleep.promise,
    letGo() {
      isLetGo = true;
      wakeWhere(() => true);
    },
  };
}
