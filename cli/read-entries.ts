import type { Entry } from '../lib/ledger/entry.ts';
import type { EntryQuery, Ledger } from '../lib/ledger/ledger.ts';
import type { Status } from '../lib/model/outcome.ts';

/** Which entries are meant. */
export interface EntryFilter {
  readonly status?: Status;
  readonly account?: string;
  /** Stored then or later. */
  readonly fromMs?: number;
  /** Stored before; infinite: no end. */
  readonly untilMs?: number;
  /** What no index of a ledger knows; absent: any entry. */
  readonly matches?: (entry: Entry) => boolean;
}

export interface EntryRange {
  readonly limit: number;
  /** Behind which entry to begin: `next` of a listing. */
  readonly before?: string;
}

export interface EntryListing {
  readonly entries: readonly Entry[];
  /** Where the entries go on, if there may be more; null when these were the last. */
  readonly next: string | null;
  /** Whether it ended before enough were found, because it had looked at so many. */
  readonly isCut: boolean;
}

/** A market or a word is in no index: so many entries are looked at for it, which takes seconds and costs less than a cent. */
export const mostLookedAt = 10_000;
const pageSize = 100;

/**
 * The newest entries that are meant, newest first, as many as asked for.
 *
 * A page may hold fewer than asked for although more follow: a table goes by one of status and account, and leaves out
 * what the other says.
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
    // Where an index says it all, not one too many is read.
    limit: matches === undefined && (status === undefined || account === undefined) ? limit : pageSize,
  };
}

/** Every entry that is meant, oldest first, a page at a time. */
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
