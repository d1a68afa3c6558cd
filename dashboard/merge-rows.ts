import type { SignalRow } from './documents.ts';

/** What is shown of a list, newest first. */
export interface Feed {
  readonly rows: readonly SignalRow[];
  /** Where older ones begin; null: there are none. */
  readonly next: string | null;
}

export function keyOf({ account, signalId }: Pick<SignalRow, 'account' | 'signalId'>): string {
  return `${account} ${signalId}`;
}

/**
 * Puts the newest page before the rows that are shown. Rows that stay the same stay the same objects.
 *
 * @returns the feed, and how many rows are new; the page alone when there may be others between it and what was shown
 */
export function mergeNewest(shown: Feed, newest: Feed): { readonly feed: Feed; readonly added: number } {
  const known = new Map(shown.rows.map((row) => [keyOf(row), row]));
  const meets = newest.next === null || newest.rows.some((row) => known.has(keyOf(row)));
  if (shown.rows.length === 0 || !meets) return { feed: newest, added: newest.rows.length };
  const head = newest.rows.map((row) => {
    const before = known.get(keyOf(row));
    return before !== undefined && isSame(before, row) ? before : row;
  });
  const inHead = new Set(head.map(keyOf));
  // Below the page nothing is known anew; within it, what is missing is not in the list any more.
  const oldest = newest.rows.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
  const rest =
    newest.next === null ? [] : shown.rows.filter((row) => !inHead.has(keyOf(row)) && row.atMs <= oldest);
  const added = head.filter((row) => !known.has(keyOf(row))).length;
  const next = rest.length === 0 ? newest.next : shown.next;
  return { feed: { rows: [...head, ...rest], next }, added };
}

/** Puts a page of older rows behind those that are shown. */
export function appendOlder({ rows }: Feed, older: Feed): Feed {
  const known = new Set(rows.map(keyOf));
  return { rows: [...rows, ...older.rows.filter((row) => !known.has(keyOf(row)))], next: older.next };
}

function isSame(a: SignalRow, b: SignalRow): boolean {
  return (
    a.updatedAtMs === b.updatedAtMs && a.status === b.status && a.filled === b.filled && a.result === b.result
  );
}
