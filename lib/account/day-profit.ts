import { formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { fieldsOf, type Json, numberIn } from '../base/json.ts';
import { dayMs, startOfDayAt } from '../base/time-zone.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { EndedOrder } from '../exchange/list-account.ts';
import type { Entry } from '../ledger/entry.ts';
import { listFills, mostFollowed } from '../ledger/executions.ts';
import { fillMarksOf } from '../ledger/order-facts.ts';
import { orderRecordOf } from '../ledger/order-record.ts';
import { limitsOf } from '../limits/check-order.ts';
import { type RealisedProfit, replayFills } from '../limits/replay-fills.ts';
import type { Account } from '../model/account.ts';
import type { CostBooks } from '../model/average-cost.ts';
import { type FirstHoldings, firstIfKept, isFillOnSpot, spotKeyOf } from '../model/cost-books.ts';
import { type Fill, fillNameOf } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { currenciesInName } from '../model/market.ts';
import type { DecimalText } from '../model/signal.ts';
import {
  type DealServices,
  type DealsState,
  describeBooks,
  type OtherDeals,
  parseBooks,
  readDealsState,
  readOtherDeals,
} from './account-deals.ts';
import type { DealSource, ListedFilled } from './deal-places.ts';

export type DayServices = DealServices;

/** The fills of this day and of the one before, and the positions that older ones left. */
export interface DayFills {
  /** When the day began. */
  readonly sinceMs: number;
  readonly readAtMs: number;
  /** What older fills left at the beginning of these. */
  readonly books: CostBooks;
  /** Since when fills are listed. */
  readonly fromMs: number;
  /** What the account held when it was first read, if that was since then. */
  readonly first: FirstHoldings | null;
  /** Since when deals count at all. */
  readonly counts: Pick<DealsState, 'sinceMs' | 'shownToMs'>;
  /** Oldest first: of signals and of no signal, and those that only the response to an order has told. */
  readonly fills: readonly Fill[];
  /** Orders that had ended before these were read, as a list showed them after that. */
  readonly ended: readonly EndedOrder[];
  /** Whether a market trades on the spot account, for fills that do not say it. */
  readonly isSpot: (market: string) => boolean;
}

/** A fill carries the time of the exchange, which is ahead of a clock that was set back. */
const clockAheadMs = 31 * dayMs;

/**
 * Reads what was dealt of late, the fills of this day and the last one, and the positions that older fills left, which are stored. A fill that
 * becomes known within a day of its time is replayed at its place; one that comes later, or never, is missing.
 *
 * @param listed orders of which lists were read just before
 * @throws ExchangeError when the deals cannot be read; RelayError `store_unavailable`
 */
export async function readDayFills(
  services: DayServices,
  account: Account,
  source: DealSource,
  listed: readonly ListedFilled[] = [],
): Promise<DayFills> {
  return await readFills(services, account, await readOtherDeals(services, account, source, listed));
}

/**
 * The same of what is stored alone: without the deals that nobody has read yet.
 *
 * @returns null when the account was never read @throws RelayError `store_unavailable`
 */
export async function readStoredFills(services: DayServices, account: Account): Promise<DayFills | null> {
  const state = await readDealsState(services.facts, account.name);
  return state === null ? null : await readFills(services, account, { fresh: null, state, ended: [] });
}

/** @param other.fresh what was read just now, perhaps not stored; null: nothing was read, so what is computed is not kept */
async function readFills(
  services: DayServices,
  account: Account,
  { fresh, state, ended }: Omit<OtherDeals, 'fresh'> & { readonly fresh: readonly Fill[] | null },
): Promise<DayFills> {
  const { clock, executions, facts } = services;
  const { name, limits } = account;
  const { first } = state;
  const timeZone = limits?.timeZone ?? 'Etc/UTC';
  const isSpot = (market: string) => limitsOf(account, market)?.tradesOn === 'spot';
  const nowMs = clock.nowMs();
  const sinceMs = startOfDayAt(nowMs, timeZone);
  const stored = parseStored(await facts.read(name, 'books'), isSpot);
  // Books of a later time were stored before the clock was set back. Without books every fill counts, as in a report.
  const start = stored === null || stored.atMs > sinceMs ? { atMs: 0, books: new Map() } : stored;
  // In another time zone, the books may have been stored after the last day began.
  const checkpointMs = Math.max(startOfDayAt(sinceMs - 1, timeZone), start.atMs);
  let books: CostBooks = start.books;
  if (start.atMs < checkpointMs) {
    const older = merge(
      await readAll(listFills(executions, name, start.atMs, checkpointMs)),
      (fresh ?? []).filter(({ atMs }) => atMs >= start.atMs && atMs < checkpointMs),
    );
    const isBetween = first.atMs >= start.atMs && first.atMs < checkpointMs;
    // What was held is not known to be held where deals since then may have expired.
    const held = isBetween ? firstIfKept(first, executions.keptFromMs(nowMs)) : null;
    books = replayFills(books, older, checkpointMs, isSpot, held).books;
    if (fresh !== null) await facts.write(name, 'books', { atMs: checkpointMs, ...describeStored(books) });
  }
  const listed = await readAll(listFills(executions, name, checkpointMs, nowMs + clockAheadMs));
  const known = merge(
    listed,
    (fresh ?? []).filter(({ atMs }) => atMs >= checkpointMs),
  );
  const told = (await executions.followed(name, mostFollowed)).flatMap(
    (entry) => findToldFill(entry, known, isSpot) ?? [],
  );
  // An order fills at once in the millisecond in which it is made: what came in the same one came after it.
  const fills = [...told, ...known].sort((one, other) => one.atMs - other.atMs);
  const begun = first.atMs < checkpointMs ? null : first;
  return {
    sinceMs,
    fromMs: checkpointMs,
    readAtMs: nowMs,
    books,
    first: begun,
    counts: state,
    fills,
    ended,
    isSpot,
  };
}

/**
 * What the day has realised. A fill that the list of positions does not show yet counts with the position that is still
 * listed, and not a second time.
 *
 * @param positions as they were read
 */
export function realisedBy(
  day: DayFills,
  positions: readonly OpenPosition[],
): RealisedProfit & Pick<DayFills, 'sinceMs'> {
  const { books, fills, sinceMs, isSpot, readAtMs, first } = day;
  const { lastLossAtMs } = replayFills(books, fills, sinceMs, isSpot, first);
  const shown = fills.filter((fill) => !isAhead(fill, positions, readAtMs));
  return { ...replayFills(books, shown, sinceMs, isSpot, first), lastLossAtMs, sinceMs };
}

function isAhead(fill: Fill, positions: readonly OpenPosition[], nowMs: number): boolean {
  return positions.some((position) => mayLag(position, fill, nowMs));
}

/** Whether a position, as it is listed, may be without a fill of the last seconds. */
export function mayLag(
  { market, positionSide, modifiedAtMs }: OpenPosition,
  fill: Fill,
  nowMs: number,
): boolean {
  return (
    Math.abs(nowMs - fill.atMs) < longestPositionLagMs &&
    market === fill.market &&
    fill.onSpot !== true &&
    (fill.positionSide === undefined || positionSide === 'BOTH' || positionSide === fill.positionSide) &&
    modifiedAtMs !== null &&
    fill.atMs > modifiedAtMs
  );
}

/** What the response to an order said was filled, beyond the fills that are known. */
function findToldFill(
  entry: Entry,
  known: readonly Fill[],
  isSpot: (market: string) => boolean,
): Fill | null {
  const record = orderRecordOf(entry);
  const report = record?.reported;
  if (record === null || report?.filledNotional === undefined) return null;
  const { account, signalId, market, asked, positionSide, updatedAtMs } = record;
  const { orderId, side, filled, filledNotional, fee = '0' } = report;
  const counted = known
    .filter((fill) => fill.orderId === orderId)
    .reduce((sum, { amount }) => sum.plus(parseDecimal(amount)), zero);
  const followed = parseDecimal(record.followed?.filled ?? '0');
  const whole = parseDecimal(filled);
  const missing = whole.minus(followed.gt(counted) ? followed : counted);
  if (missing.lte(zero)) return null;
  const { base, quote } = currenciesInName(market);
  const marks = fillMarksOf(entry);
  const part = (value: DecimalText) => parseDecimal(value).times(missing).div(whole);
  return {
    account,
    market,
    dealId: 0,
    atMs: report.endedAtMs ?? report.createdAtMs ?? updatedAtMs,
    signalId,
    orderId,
    role: 'order',
    side,
    ...(positionSide === 'LONG' || positionSide === 'SHORT' ? { positionSide } : {}),
    ...(asked?.reduceOnly === true ? { onlyReduces: true } : {}),
    ...marks,
    liquidity: 'taker',
    amount: formatDecimal(missing),
    price: formatDecimal(parseDecimal(filledNotional).div(whole)),
    notional: formatDecimal(part(filledNotional)),
    fee: formatDecimal(part(fee)),
    feeAsset: isFillOnSpot({ market, ...marks }, isSpot) && side === 'buy' ? base : quote,
  };
}

/**
 * A command that only reads stores nothing: what it has read is in no list.
 *
 * @returns the oldest first. Those of one millisecond are in the order of their numbers: what each of them closed, and at which
 *   profit, depends on what was dealt before it
 */
function merge(listed: readonly Fill[], fresh: readonly Fill[]): readonly Fill[] {
  const all = new Map([...fresh, ...listed].map((fill) => [fillNameOf(fill), fill]));
  return [...all.values()].sort((one, other) => one.atMs - other.atMs || one.dealId - other.dealId);
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

/** The fact `books`, but for its time. */
function describeStored(books: CostBooks) {
  return { books: describeBooks(books), spotBy: 'strategy' };
}

function parseStored(fact: Json, isSpot: (market: string) => boolean): StoredBooks | null {
  const { atMs, books: text, spotBy } = fieldsOf(fact);
  const storedAtMs = numberIn(atMs);
  if (storedAtMs === null) return null;
  const books = parseBooks(text);
  return { atMs: storedAtMs, books: spotBy === undefined ? fromOlder(books, isSpot) : books };
}

/** An older release kept one book for all that was bought of a market on spot: any strategy may sell it. */
function fromOlder(books: CostBooks, isSpot: (market: string) => boolean): CostBooks {
  return new Map(
    [...books].map(([key, position]) => {
      const market = isSpot(key) ? key : key.endsWith(' SPOT') ? key.slice(0, -' SPOT'.length) : null;
      return [market === null ? key : spotKeyOf(market, undefined), position] as const;
    }),
  );
}
