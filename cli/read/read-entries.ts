import type { Entry } from '../../lib/ledger/entry.ts';
import { type EntryQuery, type Ledger, listEntries, listPages } from '../../lib/ledger/ledger.ts';
import type { Status } from '../../lib/model/outcome.ts';

/** Which entries to read. */
export interface EntryFilter {
  readonly status?: Status;
  readonly account?: string;
  /** Stored at or after this time. */
  readonly fromMs?: number;
  /** Stored before this time; infinite: no limit. */
  readonly untilMs?: number;
  /** A condition that no index of the ledger supports; absent: every entry matches. */
  readonly matches?: (entry: Entry) => boolean;
}

export interface EntryRange {
  readonly limit: number;
  /** Where to continue: `next` of an earlier listing. */
  readonly before?: string;
}

export interface EntryListing {
  readonly entries: readonly Entry[];
  /** Where to continue if there may be more entries; null when these were the last. */
  readonly next: string | null;
  /** Whether the search stopped at `mostLookedAt` entries before it found enough. */
  readonly isCut: boolean;
}

/** How many entries a search without an index reads: on AWS this takes seconds and costs less than a cent. */
export const mostLookedAt = 10_000;
const pageSize = 100;

/**
 * Reads up to `limit` matching entries, newest first.
 *
 * A page of the ledger may contain fewer entries than requested although more follow: the DynamoDB table has
 * an index by status or by account, and filters by the other.
 *
 * @throws RangeError when `before` is no cursor of this ledger
 */
export async function readEntries(
  ledger: Ledger,
  filter: EntryFilter,
  { limit, before }: EntryRange,
): Promise<EntryListing> {
  const found: Entry[] = [];
  const { fromMs = 0, matches = () => true } = filter;
  const query = firstQueryOf(filter, limit, before);
  let last: string | null = null;
  for await (const page of listPages(ledger, query, Math.ceil(mostLookedAt / query.limit))) {
    const { entries, cursors, next } = page;
    for (const [index, entry] of entries.entries()) {
      if (entry.createdAtMs < fromMs) return { entries: found, next: null, isCut: false };
      if (!matches(entry)) continue;
      found.push(entry);
      if (found.length < limit) continue;
      const isLast = index === entries.length - 1 && next === null;
      return { entries: found, next: isLast ? null : (cursors[index] ?? null), isCut: false };
    }
    last = next;
  }
  return { entries: found, next: last, isCut: last !== null };
}

function firstQueryOf(
  { status, account, untilMs = Number.POSITIVE_INFINITY, matches }: EntryFilter,
  limit: number,
  before: string | undefined,
): EntryQuery {
  return {
    ...(status === undefined ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...(untilMs === Number.POSITIVE_INFINITY ? {} : { startMs: untilMs }),
    ...(before === undefined ? {} : { cursor: before }),
    // If an index answers the whole query, only `limit` entries are read.
    limit: matches === undefined && (status === undefined || account === undefined) ? limit : pageSize,
  };
}

/** Reads all matching entries, oldest first. */
export async function* listMatching(ledger: Ledger, filter: EntryFilter): AsyncGenerator<Entry> {
  const { status, account, fromMs, untilMs = Number.POSITIVE_INFINITY, matches = () => true } = filter;
  const wanted = {
    ...(status === undefined ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...(fromMs === undefined ? {} : { startMs: fromMs }),
  };
  for await (const entry of listEntries(ledger, wanted)) {
    if (entry.createdAtMs >= untilMs) return;
    if (matches(entry)) yield entry;
  }
}
