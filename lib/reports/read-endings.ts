import { type Decimal, zero } from '../base/decimal.ts';
import { replacedIn } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Executions, listFills } from '../ledger/executions.ts';
import { type Ledger, listEntries } from '../ledger/ledger.ts';
import { fillMarksOf, placedByIn } from '../ledger/order-facts.ts';
import { orderRecordOf } from '../ledger/order-record.ts';
import { type FirstHoldings, firstIfKept, isFillOnSpot } from '../model/cost-books.ts';
import { type Fill, isOfExit, isOfSignal, isStillOpen } from '../model/execution.ts';
import type { Side } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';
import { type Ending, type EndingState, endingOf } from './entry-ending.ts';
import { createLotBooks, type EntryLot, type LotBooks } from './entry-lots.ts';

export interface EndingSources {
  readonly ledger: Pick<Ledger, 'list'>;
  readonly executions: Pick<Executions, 'listFills'>;
  /** What an account held when it was first read; null: it never was. */
  firstOf(account: string): Promise<FirstHoldings | null>;
  /** Fills from before may have expired; absent or null: none expire. */
  readonly keptFromMs?: number | null;
  /** Whether a market trades on the spot account. */
  isSpot(account: string, market: string): boolean;
  /**
   * The open position of a side in a market as it was last read, in base units.
   *
   * @returns null when it was not read since that time
   */
  heldOf(account: string, market: string, side: Side, sinceMs: number): Promise<Decimal | null>;
}

/** An ending, and what only other entries tell of it. */
export interface ToldEnding extends Ending {
  /**
   * Of `cancelled`: the id of the signal whose order cancelled it; `null`: no signal of the relay did, so a person did, or
   * the exchange when it gives a reason. Absent: not cancelled, or not known.
   */
  readonly cancelledBy?: string | null;
}

/** An account with more fills than this is not replayed for a list: on AWS that takes seconds. `report` reads them all. */
const mostFills = 20_000;

/**
 * Reads how the orders of entries ended. Fills are replayed from the first one on, and only if an order was closed, or may have
 * been closed, by other means than its own exits.
 *
 * @returns for each entry its ending; null for one that placed no order
 * @throws RelayError `store_unavailable`
 */
export async function readEndings(
  sources: EndingSources,
  entries: readonly Entry[],
  nowMs: number,
): Promise<readonly (ToldEnding | null)[]> {
  const books = createLotBooks((account, market) => sources.isSpot(account, market));
  const unread = new Set<string>();
  for (const account of await accountsToReplay(sources, entries))
    if (!(await replay(sources, books, account, { entries, nowMs }))) unread.add(account);
  const endings: (ToldEnding | null)[] = [];
  for (const entry of entries) {
    const lot = unread.has(entry.account) ? null : books.lotOf(entry);
    endings.push(await complete(sources, books, { entry, entries }, endingOf(entry, lot), lot));
  }
  return endings;
}

/** The accounts of entries whose own orders do not tell what became of them. */
async function accountsToReplay(
  { executions }: EndingSources,
  entries: readonly Entry[],
): Promise<ReadonlySet<string>> {
  const accounts = new Set(entries.filter(isLeftOpen).map(({ account }) => account));
  for (const entry of entries)
    if (!accounts.has(entry.account) && (await mayHaveTurned(executions, entry))) accounts.add(entry.account);
  return accounts;
}

function isLeftOpen(entry: Entry): boolean {
  const state = endingOf(entry)?.state;
  return state === 'open' || state === 'reduced';
}

const endedByExits: ReadonlySet<EndingState | undefined> = new Set(['stopped_out', 'target', 'closed']);

/** Whether something else closed what an entry had opened before its exits filled: then they opened the other side. */
async function mayHaveTurned(executions: Pick<Executions, 'listFills'>, entry: Entry): Promise<boolean> {
  const record = orderRecordOf(entry);
  if (record === null || !endedByExits.has(endingOf(entry)?.state)) return false;
  const { account, market, side, followed, exits, createdAtMs } = record;
  const ends = exits.flatMap(({ order }) => order?.endedAtMs ?? []);
  if (ends.length === 0) return true;
  const range = { fromMs: followed?.endedAtMs ?? createdAtMs, untilMs: Math.max(...ends) + 1 };
  const { fills, next } = await executions.listFills({ account, ...range, limit: mostAround });
  return (
    next !== null || fills.some((fill) => fill.market === market && fill.side !== side && !isOfExit(fill))
  );
}

/** A fill carries the time of the exchange, which may be ahead of this clock. */
const clockAheadMs = 31 * 24 * 3_600_000;

/** @returns false when there are too many fills: nothing may be concluded from those that were read */
async function replay(
  { ledger, executions, firstOf, keptFromMs = null, isSpot }: EndingSources,
  books: LotBooks,
  account: string,
  { entries, nowMs }: { readonly entries: readonly Entry[]; readonly nowMs: number },
): Promise<boolean> {
  // Only on spot does it matter which strategy bought. The ledger is long: it is read where an entry names one.
  const isAsked = entries.some(
    (entry) =>
      entry.account === account &&
      entry.signal?.strategy !== undefined &&
      (fillMarksOf(entry).onSpot ?? isSpot(account, entry.signal.market)),
  );
  const strategies = new Map<string, string | undefined>();
  if (isAsked)
    for await (const { signalId, signal } of listEntries(ledger, { account }))
      strategies.set(signalId, signal?.strategy);
  // On spot the owner may sell coins that he holds besides.
  const counts = (fill: Fill) => isOfSignal(fill) || !isFillOnSpot(fill, (of) => isSpot(account, of));
  let first = firstIfKept(await firstOf(account), keptFromMs);
  let count = 0;
  for await (const fill of listFills(executions, account, 0, nowMs + clockAheadMs)) {
    count += 1;
    if (count > mostFills) return false;
    if (first !== null && fill.atMs >= first.atMs) {
      books.holdFirst(account, first);
      first = null;
    }
    if (counts(fill)) books.book(fill, fill.strategy ?? strategies.get(fill.signalId));
  }
  return true;
}

async function complete(
  sources: EndingSources,
  books: LotBooks,
  { entry, entries }: { readonly entry: Entry; readonly entries: readonly Entry[] },
  ending: Ending | null,
  lot: EntryLot | null,
): Promise<ToldEnding | null> {
  if (ending === null) return null;
  if (ending.state === 'cancelled' && ending.reason === null) {
    const known = entries.find((other) => hasReplaced(other, entry))?.signalId;
    const cancelledBy = known ?? (await findCanceller(sources, entry));
    return cancelledBy === undefined ? ending : { ...ending, cancelledBy };
  }
  if (ending.state === 'closed' && lot?.closedBy.has('other') === true)
    return await compareWithPosition(sources, books, entry, ending, lot);
  if (ending.state !== 'open' || hasOpenExit(entry)) return ending;
  if (lot === null) return { ...ending, state: 'uncertain' };
  return await compareWithPosition(sources, books, entry, ending, lot);
}

function hasOpenExit(entry: Entry): boolean {
  const { exits = [] } = orderRecordOf(entry) ?? {};
  return exits.some(({ order }) => order !== null && isStillOpen(order.status));
}

/** The list of positions may lag behind a fill. */
const positionLagMs = 10_000;

/**
 * Compares what the fills have left with the position, if that was read after the last fill of any signal. Less of it stands after
 * a close on the website whose deals nobody has read yet. More of it stands than the fills have left where a deal by hand has closed
 * what the owner held before the relay first read the account.
 */
async function compareWithPosition(
  { heldOf }: EndingSources,
  books: LotBooks,
  entry: Entry,
  ending: Ending,
  { market, side, changedAtMs }: EntryLot,
): Promise<Ending> {
  // What it bought is in no position, wherever the market trades now.
  if (fillMarksOf(entry).onSpot === true) return ending;
  const { account } = entry;
  const lastFillMs = Math.max(changedAtMs, books.changedAtMsOf(account, market) ?? changedAtMs);
  const held = await heldOf(account, market, side, lastFillMs + positionLagMs);
  if (held === null) return ending;
  const left = books.leftOf(account, market, side);
  if (ending.state === 'closed' ? held.lte(left) : held.gte(left)) return ending;
  return { ...ending, state: held.eq(zero) ? 'closed_elsewhere' : 'uncertain', profit: null, left: null };
}

/** An alert takes at most this long to be carried out. */
const longestExecutionMs = 120_000;
const mostAround = 100;
/** The clock of the exchange, which dates the end, may differ from this one. */
const clockDifferenceMs = 5_000;

/**
 * The signal that cancelled the order of an entry.
 *
 * @returns null when none did; undefined when that is not known
 */
async function findCanceller({ ledger }: EndingSources, entry: Entry): Promise<string | null | undefined> {
  const { followed = null, endedAtMs = null } = orderRecordOf(entry) ?? {};
  if (followed === null || endedAtMs === null) return undefined;
  const startMs = Math.max(entry.createdAtMs, endedAtMs - longestExecutionMs);
  const page = await ledger.list({ account: entry.account, startMs, oldestFirst: true, limit: mostAround });
  const latestMs = endedAtMs + clockDifferenceMs;
  const cancels = page.entries.filter((other) => other.createdAtMs <= latestMs && mayCancel(other, entry));
  const found = cancels.find((other) => namesOrder(other, entry, followed.orderId));
  if (found !== undefined) return found.signalId;
  const isWhole = page.next === null || (page.entries.at(-1)?.createdAtMs ?? 0) > latestMs;
  return isWhole && cancels.length === 0 ? null : undefined;
}

/** Whether an entry is a cancellation in the same market that may have had an effect, or a close that cancelled the order first. */
function mayCancel({ signal, status, steps }: Entry, entry: Entry): boolean {
  if (signal === null || signal.market !== entry.signal?.market) return false;
  if (placedByIn({ steps }).includes(entry.signalId) || hasReplaced({ steps }, entry)) return true;
  return (signal.action === 'cancel' || signal.action === 'cancel_all') && mayHaveCancelled.has(status);
}

/** Whether an entry cancelled an order that protected a position: another one took its place, or the position was closed. */
function hasReplaced(other: Pick<Entry, 'steps'>, { orderId }: Pick<Entry, 'orderId'>): boolean {
  return orderId !== null && replacedIn([other]).has(orderId);
}

const mayHaveCancelled: ReadonlySet<Status> = new Set(['sending', 'cancelled', 'unknown']);

function namesOrder({ signal, steps }: Entry, { signalId }: Entry, orderId: number): boolean {
  if (placedByIn({ steps }).includes(signalId) || hasReplaced({ steps }, { orderId })) return true;
  return signal?.action === 'cancel' && signal.target.by === 'orderId' && signal.target.orderId === orderId;
}
