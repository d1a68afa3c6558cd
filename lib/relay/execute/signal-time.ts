/**
 * How long the requests of one signal to the exchange may take, from its first plan on, in timeouts of a request:
 *
 * - A plan reads the market list, then book and balances, then the last price: half a timeout each.
 * - No plan starts later than one timeout after the first. A later plan finds the market list read, so an order whose
 *   readings are still fresh is sent after one and a half timeouts at the latest.
 * - Sending gets what is left, but never less than one timeout.
 *
 * @see DECISIONS 128
 */
export const signalTimeouts = 2.5;

/** Whether there is still time to plan a signal anew. */
export function mayPlanAgain(startedAtMs: number, nowMs: number, timeoutMs: number): boolean {
  return nowMs - startedAtMs <= timeoutMs;
}

/**
 * How long all requests that carry out a plan may take together.
 *
 * @param plannedMs how long planning took
 * @param timeoutMs of one request
 */
export function sendingTimeMs(plannedMs: number, timeoutMs: number): number {
  // A process that was frozen while it planned has the time that it did not use. A negative time means that the clock
  // was set back meanwhile.
  return Math.max(timeoutMs, signalTimeouts * timeoutMs - Math.max(0, plannedMs));
}

/**
 * Nothing is sent later than this after `sending`; lookups of an order start well after it.
 *
 * @see DECISIONS 46
 */
export const sendWindowMs = 30_000;
