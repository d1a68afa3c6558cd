import type { Json } from '../base/json.ts';
import type { Entry, Step } from '../ledger/entry.ts';

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
