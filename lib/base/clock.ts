/** The source of the time; injected, so that tests and simulations control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Resolves after the given time on this clock. */
  sleep(durationMs: number): Promise<void>;
}

/** Whether a duration has passed since a time. A time in the future was noted before the clock was set back, and has passed. */
export function hasPassed(sinceMs: number, durationMs: number, nowMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= durationMs;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
};
