import type { Entry } from '../../ledger/entry.ts';

/** When the entry's `sending` step was written; infinity when it has none. */
export function sentAtMs({ steps }: Entry): number {
  return steps.find(({ status }) => status === 'sending')?.atMs ?? Number.POSITIVE_INFINITY;
}

/** A request is sent within the first half of this after `sending`, and arrives within the second half. */
const longestTransitMs = 60_000;

/** Whether an order that the exchange does not have now may still arrive there. */
export function mayStillArrive(entry: Entry, nowMs: number): boolean {
  // A time in the future was written before the clock was set back; how long ago that was is not known.
  return entry.status !== 'placed' && Math.abs(nowMs - sentAtMs(entry)) < longestTransitMs;
}
