import type { Status } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import type { Entry, EntryKey, Step } from './entry.ts';

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

export type Accepted =
  | { readonly result: 'created'; readonly entry: Entry }
  | { readonly result: 'exists'; readonly entry: Entry }
  | { readonly result: 'over_limit'; readonly count: number };

export type Started =
  | { readonly result: 'started' }
  | { readonly result: 'over_limit'; readonly count: number }
  /** It is no longer `accepted`: somebody else moved it. */
  | { readonly result: 'conflict'; readonly entry: Entry };

/** A move of an entry to another status. */
export interface Move {
  readonly from: Status;
  readonly step: Step;
  readonly orderId?: number;
  readonly orderOpen?: boolean;
}

export interface EntryQuery {
  readonly status?: Status;
  /** At most this many, newest first. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
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
   * Stores a signal as `accepted`, unless one of that key is there already or the account had its share of
   * signals in the last 60 seconds.
   */
  accept(entry: NewEntry, limit: MinuteLimit | null): Promise<Accepted>;

  /** Records a refused alert as `invalid`; a resend of the same bytes changes nothing. */
  refuse(entry: RefusedEntry): Promise<void>;

  /**
   * Moves `accepted` to `sending` if the account has not had its share of orders in the last 60 seconds: after
   * this, the order may go on the wire, once.
   */
  start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started>;

  /**
   * Moves an entry on, if it still has the status the caller saw.
   *
   * @throws RelayError `entry_conflict` when it has not, or when the state machine knows no such move
   */
  move(key: EntryKey, move: Move): Promise<Entry>;

  /** Notes that the exchange no longer holds the order of this entry. */
  closeOrder(key: EntryKey): Promise<void>;

  read(key: EntryKey): Promise<Entry | null>;

  /** Newest first; the cost grows with the page, not with the ledger. */
  list(query: EntryQuery): Promise<EntryPage>;

  /** Entries whose order the ledger believes open (placed, or sent with an unknown end), oldest first. */
  openOrders(account: string, market: string): Promise<readonly Entry[]>;

  readPause(account: string): Promise<Pause | null>;

  /** Null resumes. */
  writePause(account: string, pause: Pause | null): Promise<void>;
}
