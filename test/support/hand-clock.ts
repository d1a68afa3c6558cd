import type { Clock } from '../../lib/base/clock.ts';

/** A clock that stands still until it is moved by hand, while machine and network go on at their own pace. */
export interface HandClock extends Clock {
  /** Wakes whoever slept until then; resolves as soon as somebody sleeps again: their work is done. */
  moveTo(timeMs: number): Promise<void>;
  /** Resolves as soon as somebody has slept: what they do first is done. */
  whenAsleep(): Promise<void>;
  /** Lets time stand for good: sleeps end at once, so that whoever sleeps can see that it shall stop. */
  letGo(): void;
}

interface Sleeper {
  readonly dueMs: number;
  wake(): void;
}

export function createHandClock(startMs: number): HandClock {
  let nowMs = startMs;
  let sleepers: readonly Sleeper[] = [];
  let isLetGo = false;
  let asleep = Promise.withResolvers<void>();

  function wakeWhere(isDue: (sleeper: Sleeper) => boolean): void {
    const woken = sleepers.filter(isDue);
    sleepers = sleepers.filter((sleeper) => !woken.includes(sleeper));
    for (const { wake } of woken) wake();
  }

  return {
    nowMs: () => nowMs,
    async sleep(durationMs) {
      asleep.resolve();
      if (isLetGo) return await new Promise((resolve) => setImmediate(resolve));
      await new Promise<void>((wake) => {
        sleepers = [...sleepers, { dueMs: nowMs + durationMs, wake }];
      });
    },
    async moveTo(timeMs) {
      nowMs = timeMs;
      asleep = Promise.withResolvers();
      wakeWhere(({ dueMs }) => dueMs <= timeMs);
      await asleep.promise;
    },
    whenAsleep: () => asleep.promise,
    letGo() {
      isLetGo = true;
      wakeWhere(() => true);
    },
  };
}
