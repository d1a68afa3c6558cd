import { keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';

/** Finds signals that became dead letters because they waited for the outcome of an earlier order. */
export function findBrokenWaits({ history }: Facts): readonly Violation[] {
  return history.deadByWaiting.map((key) => ({
    invariant: 'I25',
    harm: 'silent',
    text: `${keyText(key)} became a dead letter by waiting for the position`,
  }));
}
