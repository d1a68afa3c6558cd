import type { Entry } from './entry.ts';

/** The maximum number of refused alerts read for one id; there are more only if many alerts reuse the id. */
export const mostRefusals = 10;

export function sortNewestFirst(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((a, b) => b.createdAtMs - a.createdAtMs);
}
