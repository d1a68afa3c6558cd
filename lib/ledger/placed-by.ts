import type { Json } from '../base/json.ts';
import type { Entry, Step } from './entry.ts';

/**
 * The evidence that the `sending` step of a cancellation stores: the id of the signal that placed the order,
 * or the ids for all of its orders. It may be the only record of which signals those were.
 */
export function placedByEvidence(placedBy: readonly Entry[]): Json {
  const ids = placedBy.map(({ signalId }) => signalId);
  return { placedBy: ids.length === 1 ? (ids[0] ?? null) : ids };
}

/**
 * @returns ids of the signals that placed the orders of the cancellation; incomplete if there are very many
 */
export function allPlacedByOf(steps: readonly Step[]): ReadonlySet<string> {
  const placedBy = placedByIn(steps);
  const ids: readonly Json[] = Array.isArray(placedBy) ? placedBy : [placedBy];
  return new Set(ids.filter((id) => typeof id === 'string'));
}

/** @returns the id of the signal that placed the order, or null when the steps do not name one */
export function placedByOf(steps: readonly Step[]): string | null {
  const placedBy = placedByIn(steps);
  return typeof placedBy === 'string' ? placedBy : null;
}

function placedByIn(steps: readonly Step[]): Json {
  const evidence = steps.find(({ status }) => status === 'sending')?.evidence;
  if (typeof evidence !== 'object' || evidence === null || !('placedBy' in evidence)) return null;
  return evidence['placedBy'] ?? null;
}
