import type { Denial } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';

/**
 * Whether the signal is older than it may be when its order is sent.
 *
 * @returns null when it is fresh, or has no time to be held against
 */
export function checkStaleness(signal: Signal, nowMs: number): Denial | null {
  const { timeMs, maxLagMs } = signal;
  if (timeMs === null || maxLagMs === null) return null;
  const ageMs = nowMs - timeMs;
  if (ageMs <= maxLagMs) return null;
  const limit = secondsText(maxLagMs);
  const actual = secondsText(ageMs);
  return {
    rule: 'stale',
    limit,
    actual,
    message: `the alert is ${actual} old and may be ${limit}; raise maxLag if that delay is acceptable`,
  };
}

/** The last millisecond at which the signal is fresh; infinite when it has no time to be held against. */
export function lastFreshMs({ timeMs, maxLagMs }: Signal): number {
  return timeMs === null || maxLagMs === null ? Number.POSITIVE_INFINITY : timeMs + maxLagMs;
}

function secondsText(durationMs: number): string {
  return `${durationMs / 1000} s`;
}
