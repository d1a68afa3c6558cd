import type { Clock } from '../../base/clock.ts';
import { longestLagMs } from '../../exchange/lag.ts';
import type { Entry } from '../../ledger/entry.ts';
import type { Ledger } from '../../ledger/ledger.ts';

interface CloseServices {
  readonly clock: Clock;
  readonly ledger: Ledger;
}

/** The most entries one run closes, because its time is short; the next run closes the rest. */
const mostClosed = 200;

/** Whether an order was placed so long ago that a list of open orders must show it if it is open. */
export function wasPlacedLongAgo({ status, updatedAtMs }: Entry, nowMs: number): boolean {
  return status === 'placed' && updatedAtMs <= nowMs - longestLagMs;
}

/**
 * Closes the entries placed so long ago that the list of open orders must show them if they are open.
 *
 * @param missing entries that the list of open orders does not show
 * @returns how many it closed
 */
export async function closeMissing(
  { ledger, clock }: CloseServices,
  missing: readonly Entry[],
): Promise<number> {
  const ended = missing.filter((entry) => wasPlacedLongAgo(entry, clock.nowMs())).slice(0, mostClosed);
  await Promise.all(ended.map((entry) => ledger.closeOrder(entry)));
  return ended.length;
}
