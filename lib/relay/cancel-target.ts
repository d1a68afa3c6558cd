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
  // Times ahead were written before a clock was set back, and tell nothing of how long ago that was.
  return entry.status !== 'placed' && Math.abs(nowMs - sentAtMs(entry)) < longestWayMs;
}

/**
 * What the `sending` step of a cancellation keeps: the signal that placed the order, which nothing else may tell, or
 * those that placed all of its orders.
 */
export function placedByEvidence(placedBy: readonly Entry[]): Json {
  const ids = placedBy.map(({ signalId }) => signalId);
  return { placedBy: ids.length === 1 ? (ids[0] ?? null) : ids };
}

/** @returns the ids of the signals that placed its orders; where there are very many, not of all of them */
export function allPlacedByOf(steps: readonly Step[]): ReadonlySet<string> {
  const placedBy = placedByIn(steps);
  const ids: readonly Json[] = Array.isArray(placedBy) ? placedBy : [placedBy];
  return new Set(ids.filter((id) => typeof id === 'string'));
}

/** @returns the id of the signal that placed the order, or null when the steps do not tell */
export function placedByOf(steps: readonly Step[]): string | null {
  const placedBy = placedByIn(steps);
  return typeof placedBy === 'string' ? placedBy : null;
}

function placedByIn(steps: readonly Step[]): Json {
  const evidence = steps.find(({ status }) => status === 'sending')?.evidence;
  if (typeof evidence !== 'object' || evidence === null || !('placedBy' in evidence)) return null;
  return evidence['placedBy'] ?? null;
}
