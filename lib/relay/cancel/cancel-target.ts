import type { Entry } from '../../ledger/entry.ts';
import { sendWindowMs } from '../execute/signal-time.ts';

/** When the entry's `sending` step was written; infinity when it has none. */
export function sentAtMs({ steps }: Entry): number {
  return steps.find(({ status }) => status === 'sending')?.atMs ?? Number.POSITIVE_INFINITY;
}

/** A request is sent within the first half of this after `sending`, and arrives within the second half. */
const longestTransitMs = 2 * sendWindowMs;

/** Whether an order that the exchange does not have now may still arrive there. */
export function mayStillArrive(entry: Entry, nowMs: number): boolean {
  return entry.status !== 'placed' && wasSentWithin(entry, nowMs, longestTransitMs);
}

/** Whether a worker may still send the request of an entry. */
export function mayStillBeSent(entry: Entry, nowMs: number): boolean {
  return entry.status === 'sending' && wasSentWithin(entry, nowMs, sendWindowMs);
}

/** A time in the future was written before the clock was set back; how long ago that was is not known. */
function wasSentWithin(entry: Entry, nowMs: number, windowMs: number): boolean {
  return Math.abs(nowMs - sentAtMs(entry)) < windowMs;
}
