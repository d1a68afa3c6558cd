import type { Entry } from '../../lib/ledger/entry.ts';
import type { EntryQuery, Ledger } from '../../lib/ledger/ledger.ts';
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
  let query: EntryQuery = firstQueryOf(filter, limit, before);
  for (let lookedAt = 0; lookedAt < mostLookedAt; lookedAt += query.limit) {
    const { entries, cursors, next } = await ledger.list(query);
    for (const [index, entry] of entries.entries()) {
      if (entry.createdAtMs < fromMs) return { entries: found, next: null, isCut: false };
      if (!matches(entry)) continue;
      found.push(entry);
      if (found.length < limit) continue;
      const isLast = index === entries.length - 1 && next === null;
      return { entries: found, next: isLast ? null : (cursors[index] ?? null), isCut: false };
    }
    if (next === null) return { entries: found, next: null, isCut: false };
    query = { ...query, cursor: next };
  }
  return { entries: found, next: query.cursor ?? null, isCut: true };
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

/** Reads all matching entries, oldest first, one page at a time. */
export async function* listEntries(ledger: Ledger, filter: EntryFilter): AsyncGenerator<Entry> {
  const { status, account, fromMs, untilMs = Number.POSITIVE_INFINITY, matches = () => true } = filter;
  let query: EntryQuery | null = {
    ...(status === undefined ? {} : { status }),
    ...(account === undefined ? {} : { account }),
    ...(fromMs === undefined ? {} : { startMs: fromMs }),
    limit: pageSize,
    oldestFirst: true,
  };
  while (query !== null) {
    const { entries, next }: Awaited<ReturnType<Ledger['list']>> = await ledger.list(query);
    for (const entry of entries) {
      if (entry.createdAtMs >= untilMs) return;
      if (matches(entry)) yield entry;
    }
    query = next === null ? null : { ...query, cursor: next };
  }
}
