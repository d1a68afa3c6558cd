import { RelayError } from '../base/errors.ts';
import { type Status, statusTransitions } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import type { Entry, EntryKey, LookupProgress, Step } from './entry.ts';

/** How many signals or orders an account may have in any 60 seconds. */
export interface MinuteLimit {
  readonly maxPerMinute: number;
}

/** What is known of a signal when it is stored. */
export interface NewEntry extends EntryKey {
  readonly signal: Signal;
  readonly clientOrderId: string | null;
  readonly fingerprint: string;
  readonly atMs: number;
}

/** An authentic alert that was refused. */
export interface RefusedEntry extends EntryKey {
  readonly fingerprint: string;
  readonly step: Step;
}

/** A signal as the ledger holds it after an alert came. */
export interface StoredSignal {
  readonly entry: Entry;
  /** False for a signal that was there before: the alert is a resend. */
  readonly isNew: boolean;
}

export type Accepted =
  | { readonly result: 'stored'; readonly signals: readonly StoredSignal[] }
  | { readonly result: 'over_limit'; readonly count: number }
  /** Another alert, of other bytes, has used one of the ids. */
  | { readonly result: 'id_taken'; readonly by: Entry };

export type Started =
  | { readonly result: 'started' }
  | { readonly result: 'over_limit'; readonly count: number }
  /** It is no longer `accepted`: somebody else moved it. */
  | { readonly result: 'conflict'; readonly entry: Entry };

/** A move of an entry to another status. What is left out stays as it was. */
export interface Move {
  readonly from: Status;
  readonly step: Step;
  readonly orderId?: number;
  /** True also when a sent order may or may not exist. Heeded for `sending`, `placed` and `unknown`: all else closes it. */
  readonly orderOpen?: boolean;
}

export interface EntryQuery {
  readonly status?: Status;
  readonly account?: string;
  /** At most this many. */
  readonly limit: number;
  /** Absent: newest first. */
  readonly oldestFirst?: boolean;
  /** Newest first: only what came before that time; oldest first: only what came then or later. */
  readonly startMs?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** For each entry the cursor of a page that begins behind it. */
  readonly cursors: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
}

/** The kill switch of an account. */
export interface Pause {
  readonly sinceMs: number;
  readonly reason: string;
}

/**
 * Where the story of every signal is kept. Each method is one atomic, durable step: when it resolves, it holds
 * across a crash; when it throws `store_unavailable`, nothing is promised and a repeat is safe.
 */
export interface Ledger {
  /**
   * Stores the signals of one alert as `accepted`, all of them or none; those that are there already stay as they are.
   * Nothing is stored when an id belongs to another alert, or when the new ones would go over the account's share of
   * signals in the last 60 seconds.
   *
   * @param entries of one account, with ids that differ, in the order in which they are to be carried out
   */
  accept(entries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted>;

  /** Records a refused alert as `invalid`; a resend of the same bytes changes nothing. */
  refuse(entry: RefusedEntry): Promise<void>;

  /**
   * Moves `accepted` to `sending` if the account has not had its share of orders in the last 60 seconds: after
   * this, the order may go on the wire, once, and counts as open. Every order that went `sending` counts against the
   * limit, whatever became of it; cancellations do not.
   *
   * @throws RelayError `entry_conflict` when there is no such entry
   */
  start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started>;

  /**
   * Moves an entry on, if it still has the status the caller saw.
   *
   * One that cannot be read is moved, too, as long as its status can.
   *
   * @returns the entry as it is now
   * @throws RelayError `entry_conflict` when it has not, or when the state machine knows no such move
   */
  move(key: EntryKey, move: Move): Promise<Entry>;

  /** Notes that the exchange no longer holds the order of this entry. */
  closeOrder(key: EntryKey): Promise<void>;

  /**
   * One entry; null when there is none.
   *
   * @throws RelayError `entry_damaged` when it is there and cannot be read; lists, searches and moves show what is left
   * of it instead
   */
  read(key: EntryKey): Promise<Entry | null>;

  /**
   * Refused alerts that carried this id, newest first: at most ten, and which ones is not said where there are more.
   *
   * @param alertId the id that the alert chose
   */
  readRefusals(account: string, alertId: string): Promise<readonly Entry[]>;

  /**
   * Entries whose id begins so, in the order of their ids; at most `limit`. Its cost grows with those, not with the
   * ledger.
   */
  findByPrefix(account: string, prefix: string, limit: number): Promise<readonly Entry[]>;

  /**
   * One page; its cost grows with the page, not with the ledger. An entry that arrives or moves between two pages
   * does not shift the others.
   *
   * @throws RangeError when the cursor is not one of this ledger's
   */
  list(query: EntryQuery): Promise<EntryPage>;

  /** Signals of a market that are still `accepted`, in the order in which they were stored; at most `limit`. */
  waiting(account: string, market: string, limit: number): Promise<readonly Entry[]>;

  /**
   * Entries whose order the ledger believes open (placed, being sent, or sent with an unknown end), newest first; at
   * most `limit`.
   */
  openOrders(account: string, market: string, limit: number): Promise<readonly Entry[]>;

  /** The entry whose order has this id at the exchange, open or not; null when the ledger knows of none. */
  findOrder(account: string, market: string, orderId: number): Promise<Entry | null>;

  /**
   * Entries that are `unknown` and due to be looked for, at most `limit`, longest due first. Every entry is due as
   * soon as it becomes `unknown`. What is due only after `farthestLookMs` was put off by a clock that has been set back
   * since: it is due, too.
   */
  dueLookups(nowMs: number, limit: number): Promise<readonly Entry[]>;

  /**
   * Notes a look that settled nothing, and when the next one is due.
   *
   * @param seen the look the caller read
   * @returns false when the entry was settled, or looked for by somebody else, meanwhile; then nothing changes
   */
  postpone(key: EntryKey, seen: LookupProgress, lookup: LookupProgress): Promise<boolean>;

  readPause(account: string): Promise<Pause | null>;

  /** Null resumes. */
  writePause(account: string, pause: Pause | null): Promise<void>;
}

/** What taking alerts in needs of a ledger. */
export type LedgerEntrance = Pick<Ledger, 'accept' | 'refuse' | 'read'>;

/** An event counts against a limit for this long; after exactly this time it no longer does. */
export const limitWindowMs = 60_000;

/**
 * How far the times of two writers may lie apart. What lies further ahead was written before a clock was set back: it
 * counts against no limit, or the account would be locked out until that time comes again.
 */
export const clockToleranceMs = 5_000;

/** No look is put off for longer. */
export const farthestLookupMs = 2 * 60 * 60_000;

/** Whether something of that time counts against a limit now. */
export function countsAt(atMs: number, nowMs: number): boolean {
  return atMs > nowMs - limitWindowMs && atMs <= nowMs + clockToleranceMs;
}

/** Refuses what the state machine does not know, before a store is asked. */
export function refuseIllegalMove(key: EntryKey, { from, step }: Move): void {
  if (statusTransitions[from].includes(step.status)) return;
  throw new RelayError('entry_conflict', `${nameOf(key)} cannot go from ${from} to ${step.status}`);
}

/** The alert that an id belongs to is told by its bytes. */
export function isOtherAlert(entry: NewEntry, found: Entry): boolean {
  return found.fingerprint !== entry.fingerprint;
}

/**
 * Whether the exchange may hold the order after a move; undefined: as it was.
 *
 * Only an order that was placed, or may have been, can be open: no end is told by leaving something out.
 */
export function isOpenAfter({ step, orderOpen }: Move): boolean | undefined {
  if (step.status === 'sending') return orderOpen === true;
  return step.status === 'placed' || step.status === 'unknown' ? orderOpen : false;
}

/**
 * What a store throws when the entry has not the status the caller saw.
 *
 * @param found absent: there is none
 */
export function createConflict(
  key: EntryKey,
  { from, step }: Move,
  found?: { readonly status: string },
): RelayError {
  const state = found === undefined ? 'is not in the ledger' : `is ${found.status}, no longer ${from}`;
  return new RelayError('entry_conflict', `${nameOf(key)} cannot become ${step.status}: it ${state}`);
}

function nameOf({ account, signalId }: EntryKey): string {
  return `signal "${signalId}" of account ${account}`;
}
