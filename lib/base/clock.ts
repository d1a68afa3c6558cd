/** The source of the time; injected, so that tests and simulations control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Resolves after the given time on this clock. */
  sleep(durationMs: number): Promise<void>;
}

/**
 * Whether at least this long has passed since a time. Also true of a time in the future: it was noted before the clock was
 * set back.
 */
export function hasPassed(sinceMs: number, durationMs: number, nowMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= durationMs;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (durationMs) => new Promise((resolve) => setTimeout(resolve, durationMs)),
};
