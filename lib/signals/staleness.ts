import type { Denial } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';

/** The rule of a denial of what is too old. */
export const staleRule = 'stale';

/** When the alert arrived, for one without a time, and the default of `maxLag`. */
export interface Arrival {
  readonly receivedAtMs: number;
  readonly defaultMaxLagMs: number;
}

/**
 * Checks whether the signal is too old for its order to be sent. The age of a signal without a time is
 * counted from its arrival: even without a time, no order may wait for an hour.
 *
 * @returns null when the signal is fresh
 * @see DECISIONS 79
 */
export function checkStaleness(signal: Signal, arrival: Arrival, nowMs: number): Denial | null {
  const { firedAtMs, maxLagMs } = ageOf(signal, arrival);
  const ageMs = nowMs - firedAtMs;
  if (ageMs < -clockToleranceMs) return denyUnknownAge(-ageMs);
  if (ageMs <= maxLagMs) return null;
  const limit = secondsText(maxLagMs);
  const actual = secondsText(ageMs);
  return {
    rule: staleRule,
    limit,
    actual,
    message: `the alert is ${actual} old, and at most ${limit} is allowed; raise maxLag if that delay is acceptable${signal.timeMs === null ? '' : barTime}`,
  };
}

/** TradingView's `{{time}}` is older than the alert by a whole bar. */
const barTime = ', or send {{timenow}} if the time was {{time}}, which is the beginning of the bar';

/** The clocks of two machines, or of one machine before and after a correction, normally differ by less. */
const clockToleranceMs = 60_000;

/**
 * If the clock was ahead when the signal arrived and was set back since, nothing shows how long the signal
 * has waited.
 */
function denyUnknownAge(aheadMs: number): Denial {
  const limit = secondsText(clockToleranceMs);
  const actual = secondsText(aheadMs);
  return {
    rule: staleRule,
    limit: `${limit} ahead`,
    actual: `${actual} ahead`,
    message: `the alert's time is ${actual} ahead of this machine's clock, and at most ${limit} is allowed: its age is unknown; correct the clock`,
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
