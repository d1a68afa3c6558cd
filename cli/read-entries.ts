import type { Entry } from '../lib/ledger/entry.ts';
import type { EntryQuery, Ledger } from '../lib/ledger/ledger.ts';
import type { Status } from '../lib/model/outcome.ts';

export interface ListOptions {
  readonly status?: Status;
  readonly limit: number;
  readonly account?: string;
}

/**
 * The newest entries of that status and account, as many as asked for.
 *
 * A page may hold fewer although more follow: a store goes by one of the two and leaves out what the other says.
 */
export async function readEntries(
  ledger: Ledger,
  { limit, ...filter }: ListOptions,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  let query: EntryQuery | null = { ...filter, limit };
  while (query !== null && found.length < limit) {
    const { entries, next } = await ledger.list(query);
    found.push(...entries);
    query = next === null ? null : { ...query, cursor: next };
  }
  return found.slice(0, limit);
}
