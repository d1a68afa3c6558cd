import { type Clock, systemClock } from '../../lib/base/clock.ts';

/** A clock that goes on by itself and can be moved on by hand. */
export interface MovedClock extends Clock {
  advance(durationMs: number): void;
}

export function createMovedClock(): MovedClock {
  let aheadMs = 0;
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    sleep: (durationMs) => systemClock.sleep(durationMs),
    advance(durationMs) {
      aheadMs += durationMs;
    },
  };
}
