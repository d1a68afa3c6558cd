import { hasPassed } from '../../base/clock.ts';
import type { Entry } from '../../ledger/entry.ts';

/** Six orders protect what one entry opened at most; this is enough for several entries and a close of a part. */
const mostActsInMinute = 30;
const minuteMs = 60_000;

/** Why the next one must wait. */
export const tooManyActs =
  'as many orders as a minute may have were sent to protect positions in this market';

/**
 * Whether so many orders were sent within a minute to protect the positions of a market that the next one must wait: a list
 * that says something else each time may not become a stream of orders.
 *
 * @param entries of the account
 */
export function isOverActRate(entries: readonly Entry[], market: string, nowMs: number): boolean {
  const sent = entries.filter(
    ({ signal, steps }) =>
      signal?.action === 'protect' &&
      signal.market === market &&
      steps.some(
        ({ status, atMs, facts }) =>
          status === 'sending' && facts?.protective !== undefined && !hasPassed(atMs, minuteMs, nowMs),
      ),
  );
  return sent.length >= mostActsInMinute;
}
