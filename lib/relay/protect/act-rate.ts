import { recentPageSize } from '../../account/read-position.ts';
import { type Clock, hasPassed } from '../../base/clock.ts';
import type { Entry } from '../../ledger/entry.ts';
import { type Ledger, listPages } from '../../ledger/ledger.ts';

/** Six orders protect what one entry opened at most; this is enough for several entries and a close of a part. */
const mostActsInMinute = 30;
const minuteMs = 60_000;

/** Why the next one must wait. */
export const tooManyActs =
  'as many orders as a minute may have were sent to protect positions in this market';

/** What counts the orders. */
interface ActServices {
  readonly ledger: Pick<Ledger, 'list'>;
  readonly clock: Clock;
}

const pageSize = 100;
const mostPages = 5;

/**
 * Whether so many orders were sent within a minute to protect the positions of a market that the next one must wait: a list
 * that says something else each time may not become a stream of orders, nor may an exchange that refuses each of many.
 *
 * @param entries of the account, as they were read to plan the next one: where a page of them is of this minute, there may be more
 * @throws RelayError `store_unavailable`
 */
export async function isOverActRate(
  { ledger, clock }: ActServices,
  account: string,
  market: string,
  entries: readonly Entry[],
): Promise<boolean> {
  const nowMs = clock.nowMs();
  const isOfMinute = ({ createdAtMs }: Entry) => !hasPassed(createdAtMs, minuteMs, nowMs);
  const known = new Map(entries.map((entry) => [entry.signalId, entry]));
  const pages = entries.filter(isOfMinute).length < recentPageSize ? 0 : mostPages;
  for await (const listed of listPages(ledger, { account, limit: pageSize }, pages)) {
    for (const entry of listed.entries) if (!known.has(entry.signalId)) known.set(entry.signalId, entry);
    if (!listed.entries.every(isOfMinute)) break;
  }
  const sent = [...known.values()].filter(
    ({ signal, steps }) =>
      signal?.action === 'protect' &&
      signal.market === market &&
      steps.some(
        ({ status, atMs, facts }) =>
          status === 'sending' && facts?.protective !== undefined && !hasPassed(atMs, minuteMs, nowMs),
      ),
  );
  return sent.length >= mostActsInMinute;
}
