import type { Clock } from '../base/clock.ts';
import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import { dayMs, startOfDayAt } from '../base/time-zone.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import { type Executions, listFills } from '../ledger/executions.ts';
import type { Account } from '../model/account.ts';
import { type CostPosition, flatPosition } from '../model/average-cost.ts';
import type { Fill } from '../model/execution.ts';
import { limitsOf } from '../risk/check-order.ts';
import { type CostBooks, type RealisedProfit, replayFills } from '../risk/replay-fills.ts';

export interface DayServices {
  readonly clock: Clock;
  readonly executions: Executions;
  readonly facts: AccountFacts;
}

/** What the followed fills of the day realised. */
export interface DayFills extends RealisedProfit {
  /** When the day began. */
  readonly sinceMs: number;
}

/** An account without stored books is computed from the fills of this time. */
const firstReplayMs = 31 * dayMs;
/** A fill carries the time of the exchange, which is ahead of a clock that was set back. */
const clockAheadMs = 31 * dayMs;

/**
 * Replays the fills of this day and the last one on the positions that older fills left, which are stored. A fill that
 * becomes known within a day of its time is replayed at its place; one that comes later, or never, is missing.
 *
 * @throws RelayError `store_unavailable`
 */
export async function readDayFills(
  { clock, executions, facts }: DayServices,
  account: Account,
): Promise<DayFills> {
  const { name, limits } = account;
  const timeZone = limits?.timeZone ?? 'Etc/UTC';
  const isSpot = (market: string) => limitsOf(account, market)?.tradesOn === 'spot';
  const nowMs = clock.nowMs();
  const sinceMs = startOfDayAt(nowMs, timeZone);
  const checkpointMs = startOfDayAt(sinceMs - 1, timeZone);
  const stored = parseBooks(await facts.read(name, 'books'));
  // Books of a later time were stored before the clock was set back, or in another time zone.
  const start =
    stored === null || stored.atMs > checkpointMs
      ? { atMs: checkpointMs - firstReplayMs, books: new Map<string, CostPosition>() }
      : stored;
  let books: CostBooks = start.books;
  if (start.atMs < checkpointMs) {
    const older = await readAll(listFills(executions, name, start.atMs, checkpointMs));
    books = replayFills(books, older, checkpointMs, isSpot).books;
    await facts.write(name, 'books', describeBooks(checkpointMs, books));
  }
  const fills = await readAll(listFills(executions, name, checkpointMs, nowMs + clockAheadMs));
  return { sinceMs, ...replayFills(books, fills, sinceMs, isSpot) };
}

async function readAll(pages: AsyncIterable<Fill>): Promise<readonly Fill[]> {
  const fills: Fill[] = [];
  for await (const fill of pages) fills.push(fill);
  return fills;
}

interface StoredBooks {
  readonly atMs: number;
  readonly books: CostBooks;
}

function describeBooks(atMs: number, books: CostBooks): Json {
  const open = [...books].filter(([, { amount }]) => !amount.eq(zero));
  return {
    atMs,
    books: Object.fromEntries(
      open.map(([market, { amount, cost }]) => [
        market,
        { amount: formatDecimal(amount), cost: cost.toFixed() },
      ]),
    ),
  };
}

function parseBooks(fact: Json): StoredBooks | null {
  const fields = fieldsOf(fact);
  const atMs = numberIn(fields['atMs']);
  if (atMs === null) return null;
  const books = Object.entries(fieldsOf(fields['books'])).map(([market, book]) => {
    const { amount, cost } = fieldsOf(book);
    return [market, positionOf(decimalIn(amount), decimalIn(cost))] as const;
  });
  return { atMs, books: new Map(books) };
}

function positionOf(amount: Decimal | null, cost: Decimal | null): CostPosition {
  return amount === null || cost === null ? flatPosition : { amount, cost };
}
