import { keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { earlierOrders, needsPosition, statusAt } from './leg-invariants.ts';

/** Finds signals that became dead letters while they waited for the outcome of an earlier order. */
export function findBrokenWaits({ history, entries }: Facts): readonly Violation[] {
  const byKey = new Map(entries.map((entry) => [keyText(entry), entry]));
  return history.deadLetters.flatMap(({ key, atMs }) => {
    const entry = byKey.get(keyText(key));
    if (entry === undefined || !needsPosition(entry.signal)) return [];
    const cause = earlierOrders(history, entries, entry).find(
      (other) => statusAt(history, other, atMs) === 'unknown',
    );
    if (cause === undefined) return [];
    const text = `${keyText(key)} became a dead letter while ${keyText(cause)} was unknown`;
    return [{ invariant: 'I25', harm: 'silent', text }];
  });
}
