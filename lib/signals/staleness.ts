import type { Denial } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';

/** What the age of an alert without a time is held against. */
export interface Arrival {
  readonly receivedAtMs: number;
  readonly defaultMaxLagMs: number;
}

/**
 * Whether the signal is older than it may be when its order is sent. One that does not say when it fired is as old
 * as its arrival: no order may wait for an hour because its alert was silent about the time.
 *
 * @returns null when it is fresh
 */
export function checkStaleness(signal: Signal, arrival: Arrival, nowMs: number): Denial | null {
  const { firedAtMs, maxLagMs } = ageOf(signal, arrival);
  const ageMs = nowMs - firedAtMs;
  if (ageMs < -clockToleranceMs) return denyUnknownAge(-ageMs);
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

/** Clocks of two machines, and of one before and after it was set, differ by less. */
const clockToleranceMs = 60_000;

/** A clock that was ahead when the signal came, and was set back since, does not tell how long it has waited. */
function denyUnknownAge(aheadMs: number): Denial {
  const limit = secondsText(clockToleranceMs);
  const actual = secondsText(aheadMs);
  return {
    rule: 'stale',
    limit: `${limit} ahead`,
    actual: `${actual} ahead`,
    message: `the alert's time lies ${actual} ahead of this machine's clock and may lie ${limit}: its age is not known; set the clock right`,
  };
}

/** The last millisecond at which the signal is fresh. */
export function lastFreshMs(signal: Signal, arrival: Arrival): number {
  const { firedAtMs, maxLagMs } = ageOf(signal, arrival);
  return firedAtMs + maxLagMs;
}

function ageOf({ timeMs, maxLagMs }: Signal, { receivedAtMs, defaultMaxLagMs }: Arrival) {
  return { firedAtMs: timeMs ?? receivedAtMs, maxLagMs: maxLagMs ?? defaultMaxLagMs };
}

function secondsText(durationMs: number): string {
  return `${durationMs / 1000} s`;
}
