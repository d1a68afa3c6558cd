import type { Json } from '../base/json.ts';
import type { Entry, Step } from '../ledger/entry.ts';

/** When the entry was sent, or was about to be; infinite before that. */
export function sentAtMs({ steps }: Entry): number {
  return steps.find(({ status }) => status === 'sending')?.atMs ?? Number.POSITIVE_INFINITY;
}

/** Nothing is sent later than half of this after `sending`, and what was sent arrives within the other half. */
const longestWayMs = 60_000;

/** Whether the order of an entry may come to the exchange yet, although it is not there. */
export function mayStillArrive(entry: Entry, nowMs: number): boolean {
  return entry.status !== 'placed' && sentAtMs(entry) > nowMs - longestWayMs;
}

/** What the `sending` step of a cancellation keeps: the signal that placed the order, which nothing else may tell. */
export function placedByEvidence({ signalId }: Entry): Json {
  return { placedBy: signalId };
}

/** @returns the id of the signal that placed the order, or null when the steps do not tell */
export function placedByOf(steps: readonly Step[]): string | null {
  const evidence = steps.find(({ status }) => status === 'sending')?.evidence;
  if (typeof evidence !== 'object' || evidence === null || !('placedBy' in evidence)) return null;
  const { placedBy } = evidence;
  return typeof placedBy === 'string' ? placedBy : null;
}
