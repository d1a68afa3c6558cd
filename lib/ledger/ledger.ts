import type { Status } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import type { Entry, EntryKey, LookupProgress, ReceivedMessage, Step } from './entry.ts';

/** The most open orders read at once; the read takes milliseconds, however large the ledger is. */
export const mostBelieved = 1000;

/** The maximum number of signals or orders of an account in any 60 seconds. */
export interface MinuteLimit {
  readonly maxPerMinute: number;
}

/** The facts of a signal when it is stored. */
export interface NewEntry extends EntryKey {
  readonly signal: Signal;
  readonly clientOrderId: string | null;
  readonly fingerprint: string;
  readonly atMs: number;
  /** True when only the time of its arrival tells the alert from the next one with the same bytes; then of all its signals. */
  readonly isByArrival?: boolean;
  /** True when nothing of its alert can open or enlarge a position: it is counted apart; then of all its signals. */
  readonly reduces?: boolean;
  /** Absent: no alert asked for it, or its message is not kept. */
  readonly message?: ReceivedMessage;
}

/** An authentic alert that was refused. */
export interface RefusedEntry extends EntryKey {
  readonly fingerprint: string;
  readonly step: Step;
  /** Absent: it is not kept. */
  readonly message?: ReceivedMessage;
}

/** A signal in the ledger after its alert was accepted. */
export interface StoredSignal {
  readonly entry: Entry;
  /** False for a signal that was stored before: the alert is a resend. */
  readonly isNew: boolean;
}

export type Accepted =
  | { readonly result: 'stored'; readonly signals: readonly StoredSignal[] }
  | { readonly result: 'over_limit'; readonly count: number }
  /** Another alert has used one of the ids: its bytes are others, or it came longer ago than a resend can come. */
  | { readonly result: 'id_taken'; readonly by: Entry };

/** A signal to execute, and the market that its message names. */
export interface DueKey extends EntryKey {
  readonly market: string;
}

/** What the execution of a signal begins with. */
export interface Due {
  /** Null when there is no such entry. */
  readonly entry: Entry | null;
  /** Signals of its market that were stored before it and are still `accepted`, oldest first; none if it is not. */
  readonly earlier: readonly Entry[];
  /** The pause of its account. */
  readonly pause: Pause | null;
}

export type Started =
  | { readonly result: 'started' }
  | { readonly result: 'over_limit'; readonly count: number }
  /** The entry is no longer `accepted`: another process moved it. */
  | { readonly result: 'conflict'; readonly entry: Entry };

/** A move of an entry to another status. Facts that are absent stay as they are. */
export interface Move {
  readonly from: Status;
  readonly step: Step;
  readonly orderId?: number;
  /**
   * True also when a sent order may or may not exist. Used for
   * `sending`, `placed`, `unknown`; others close the order.
   */
  readonly orderOpen?: boolean;
}

export interface EntryQuery {
  readonly status?: Status;
  readonly account?: string;
  /** The maximum number of entries. */
  readonly limit: number;
  /** Absent: newest first. */
  readonly oldestFirst?: boolean;
  /** Newest first: only entries before this time; oldest first: only entries at or after it. */
  readonly startMs?: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** For each entry, the cursor of the page that begins after it. */
  readonly cursors: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
}

/**
 * What a pause stops: every order (`everything`), or those that open or enlarge a position, because the owner wants it
 * (`entries`) or the loss of the day is too large (`daily_loss`).
 */
const pauseKinds = ['everything', 'entries', 'daily_loss'] as const;
export type PauseKind = (typeof pauseKinds)[number];

/** The kill switch of an account. */
export interface Pause {
  readonly sinceMs: number;
  readonly reason: string;
  readonly kind: PauseKind;
}

/** How the reason of a pause began that an older release made when the loss of the day was too large. */
const olderLossPrefix = 'maxDailyLoss: ';

/** @param stored null or another word in a store of an older release, which told its pauses apart by their reason */
export function pauseKindOf(stored: string | null, reason: string): PauseKind {
  const older = reason.startsWith(olderLossPrefix) ? 'daily_loss' : 'everything';
  return pauseKinds.find((kind) => kind === stored) ?? older;
}

/**
 * The store of every signal's history. Each method is one atomic, durable step:
 * once it resolves, its effect survives a crash. If it throws `store_unavailable`,
 * the step may or may not have happened, and a retry is safe.
 */
export interface Ledger {
  /**
   * Stores the signals of one alert as `accepted`, all of them or none; existing
   * ones stay as they are. Nothing is stored when an id belongs to another alert, or
   * when the new signals would exceed the account's limit for the last 60 seconds. Signals of alerts that only reduce are
   * counted apart from all others, with the same limit; signals that are stored without a limit are not counted.
   *
   * An alert that is known by its arrival is never new within `resendWindowMs` of the one with the same bytes, whatever
   * its ids are: the signals of that one are returned.
   *
   * @param entries of one account, with different ids, in the order of execution
   */
  accept(entries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted>;

  /** Records a refused alert as `invalid`; a resend of the same bytes changes nothing. */
  refuse(entry: RefusedEntry): Promise<void>;

  /**
   * Moves `accepted` to `sending` unless the account has reached its limit of orders in the last 60 seconds.
   * After this, the order may be sent once and counts as open. Every order that became `sending` counts
   * against the limit, whatever its outcome; cancellations do not.
   *
   * @throws RelayError `entry_conflict` when there is no such entry; `earlier_signals_wait` when it was lost, and stored again
   * after others of its market
   */
  start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started>;

  /**
   * Moves an entry to another status if it still has the status the caller saw.
   *
   * A damaged entry is moved too if its status can be read.
   *
   * @throws RelayError `entry_conflict` when it has another
   * status, or when the state machine has no such move
   */
  move(key: EntryKey, move: Move): Promise<void>;

  /** Records that the exchange no longer holds an open order of this entry. A placed order is still followed. */
  closeOrder(key: EntryKey): Promise<void>;

  /**
   * One entry, once what it says cannot be lost any more; null when there is none.
   *
   * @throws RelayError `entry_damaged` when it exists but cannot
   * be read; lists, searches and moves return a substitute instead
   */
  read(key: EntryKey): Promise<Entry | null>;

  /** The message that an entry came from; null when none was kept, as in older releases. */
  readMessage(key: EntryKey): Promise<ReceivedMessage | null>;

  /**
   * What the execution of a signal begins with, in one reading.
   *
   * @param mostEarlier the maximum number of earlier signals
   * @throws RelayError `entry_damaged` when the entry exists but cannot be read
   */
  readDue(key: DueKey, mostEarlier: number): Promise<Due>;

  /**
   * Entries whose id begins with the prefix, in the order of their ids; at most `limit`. The cost grows with
   * their number, not with the ledger.
   */
  findByPrefix(account: string, prefix: string, limit: number): Promise<readonly Entry[]>;

  /**
   * One page; its cost grows with the page, not with the ledger. An entry that is added or moved between two
   * pages does not shift the others.
   *
   * @throws RangeError when the cursor is not from this ledger
   */
  list(query: EntryQuery): Promise<EntryPage>;

  /**
   * Signals of a market that are still `accepted`, in the order in which they were stored; at most `limit`.
   */
  waiting(account: string, market: string, limit: number): Promise<readonly Entry[]>;

  /**
   * Entries whose order counts as open (placed, being sent, or
   * sent with an unknown outcome), newest first; at most `limit`.
   */
  openOrders(account: string, market: string, limit: number): Promise<readonly Entry[]>;

  /** The entry whose order has this id at the exchange, open or not; null when there is none. */
  findOrder(account: string, market: string, orderId: number): Promise<Entry | null>;

  /**
   * Entries that are `unknown` and due for a lookup, longest due first; at most `limit`. Every entry is due
   * as soon as it becomes `unknown`. An entry that is due later than `farthestLookupMs` from now, or that
   * became `unknown` in the future, is of a time before a clock was set back: it counts as due, too.
   */
  dueLookups(nowMs: number, limit: number): Promise<readonly Entry[]>;

  /**
   * Records a lookup that settled nothing, and when the next one is due.
   *
   * @param seen the progress that the caller read
   * @returns false when the entry was settled or looked up by another process meanwhile; then nothing changes
   */
  postpone(key: EntryKey, seen: LookupProgress, lookup: LookupProgress): Promise<boolean>;

  readPause(account: string): Promise<Pause | null>;

  /** Null resumes. */
  writePause(account: string, pause: Pause | null): Promise<void>;

  /**
   * Pauses an account that runs. A pause that exists stays as it is.
   *
   * @returns whether the account is paused by this pause
   */
  pauseRunning(account: string, pause: Pause): Promise<boolean>;
}

/** The part of the ledger that receive-signal needs. */
export type LedgerEntrance = Pick<Ledger, 'accept' | 'refuse' | 'read'>;

/**
 * Within this time of the first arrival, the same bytes may be a resend; later they are another alert. TradingView sends
 * again 5 s after a 5xx, at most three times, and waits 3 s for each response: at most 24 s in all. The rest is for slow
 * networks, and for two machines whose clocks differ.
 *
 * @see DECISIONS 160
 * @see https://www.tradingview.com/support/solutions/43000529348-about-webhooks/
 */
export const resendWindowMs = 40_000;

/** An event counts against a limit for this long; after exactly this time it no longer does. */
export const limitWindowMs = 60_000;

/**
 * The largest accepted difference between the clocks of two writers. An event
 * further in the future was written before a clock was set back. It counts against
 * no limit, or the account would be locked out until that time comes again.
 */
export const clockToleranceMs = 5_000;

/** The longest time between two lookups of an entry. */
export const farthestLookupMs = 2 * 60 * 60_000;

/** Whether an entry that is `unknown` is due for a lookup. */
export function isLookupDue({ lookup, updatedAtMs }: Entry, nowMs: number): boolean {
  if (lookup === null || lookup.dueAtMs <= nowMs) return true;
  return lookup.dueAtMs > nowMs + farthestLookupMs || updatedAtMs > nowMs + clockToleranceMs;
}

/**
 * The pages of a list, one after the other. No page is read before it is asked for.
 *
 * @param most the maximum number of pages
 */
export async function* listPages(
  ledger: Pick<Ledger, 'list'>,
  query: EntryQuery,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<EntryPage> {
  let wanted: EntryQuery | null = query;
  for (let read = 0; read < most && wanted !== null; read += 1) {
    const page: EntryPage = await ledger.list(wanted);
    yield page;
    wanted = page.next === null ? null : { ...wanted, cursor: page.next };
  }
}

const entriesOfPage = 100;

/** The entries of a list, oldest first. */
export async function* listEntries(
  ledger: Pick<Ledger, 'list'>,
  wanted: Pick<EntryQuery, 'account' | 'status' | 'startMs'>,
): AsyncGenerator<Entry> {
  const query = { ...wanted, limit: entriesOfPage, oldestFirst: true };
  for await (const { entries } of listPages(ledger, query)) yield* entries;
}
