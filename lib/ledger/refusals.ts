import type { Entry } from './entry.ts';

/** As many refused alerts of one id are read; there are more only where an id is given again and again. */
export const mostRefusals = 10;

export function sortNewestFirst(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
}
