import type { Clock } from '../base/clock.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { Entry, EntryKey, SignalEntry } from '../ledger/entry.ts';
import type { KnownEntry, LedgerWatch } from '../ledger/ledger-watch.ts';
import { migrateLedgerTables } from '../ledger/sqlite-entries.ts';
import { deduplicationIdOf, groupOf, type SignalMessage } from './queue.ts';
import { type Waiting, WaitingLine } from './waiting-line.ts';

export interface SqliteLineOptions {
  readonly clock: Clock;
  /** After this many deliveries without success a signal is set aside as a dead letter. */
  readonly maxDeliveries: number;
  /** How long a group pauses after one of its signals was released; 2 seconds by default. */
  readonly retryDelayMs?: number;
  /** Called for every signal that becomes a dead letter: it now waits for the operator. */
  readonly onDeadLetter?: (letter: Delivery) => void;
}

/** A signal that was handed to a worker, until it is finished or released. */
export interface Delivery {
  readonly key: SignalMessage;
  /** Account and market: signals of a group are delivered one at a time, in the order in which they were stored. */
  readonly group: string;
  /** 1 at the first delivery since the relay was started. */
  readonly deliveries: number;
}

/**
 * The signals that wait to be executed on one machine: a view of the ledger's `accepted` entries, oldest first.
 *
 * A signal is delivered as soon as the ledger has executed its write, which may be before it is on the disk. So whoever
 * executes it must do nothing that outlives a power cut before the ledger has acknowledged a later write.
 */
export interface SqliteLine extends LedgerWatch {
  /** The number of signals that wait, dead letters included. */
  readonly length: number;
  /** Delivers the oldest signal of a group that no worker holds; null when there is none. */
  take(): Delivery | null;
  /** Ends a delivery whose signal was executed. */
  finish(delivery: Delivery): void;
  /** Puts a signal back in its place; after too many deliveries it becomes a dead letter instead. */
  release(delivery: Delivery): Promise<void>;
  /** Resolves as soon as `take` may have a signal to deliver, or when the signal aborts. */
  waitForWork(signal?: AbortSignal): Promise<void>;
  /**
   * Reads what another process changed, as a redrive does; cheap when there was nothing.
   *
   * @throws RelayError `store_unavailable`
   */
  takeInChanges(): void;
}

interface WaitingSignal extends Waiting, Delivery {
  deliveries: number;
  /** The entry as it was stored, while nothing has read or changed it since; null: read it from the database. */
  stored: SignalEntry | null;
  /** Whether this process has moved it on: it stays in line until its delivery ends. */
  hasLeft: boolean;
}

/** A row of the statement `waiting`. */
interface WaitingRow extends SignalMessage {
  readonly seq: number;
  readonly isAside: number;
}

/**
 * Creates the line of an embedded ledger that one process owns. What is delivered, and how often, is only in memory: after
 * a crash every waiting signal that is no dead letter is delivered again at once.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteLine(file: SqliteFile, options: SqliteLineOptions): SqliteLine {
  migrateLedgerTables(file);
  return new LineOfLedger(file, options);
}

class LineOfLedger implements SqliteLine {
  readonly #file: SqliteFile;
  readonly #options: Required<SqliteLineOptions>;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #line = new WaitingLine<WaitingSignal>();
  #dataVersion = 0;
  #mustReload = true;

  constructor(file: SqliteFile, options: SqliteLineOptions) {
    this.#file = file;
    this.#options = { retryDelayMs: 2000, onDeadLetter: () => undefined, ...options };
    this.#statements = prepareStatements(file);
    this.takeInChanges();
  }

  get length(): number {
    return this.#line.items.size;
  }

  takeInChanges(): void {
    const version = this.#file.read(() => Number(this.#statements.dataVersion.get()?.['data_version']));
    if (version === this.#dataVersion && !this.#mustReload) return;
    this.reload();
    this.#dataVersion = version;
  }

  reload(): void {
    this.#mustReload = true;
    const rows = this.#file.read(() => this.#statements.waiting.all()) as unknown as readonly WaitingRow[];
    const left = new Set(this.#line.items.keys());
    for (const row of rows) {
      left.delete(deduplicationIdOf(row));
      this.#place(row);
    }
    for (const id of left) this.#leave(id);
    this.#mustReload = false;
  }

  #place(row: WaitingRow): void {
    const known = this.#line.items.get(deduplicationIdOf(row));
    if (known === undefined) {
      this.#line.add(createWaiting(row, row.seq, null, row.isAside === 1));
      return;
    }
    known.hasLeft = false;
    if (known.isAside === (row.isAside === 1)) return;
    known.isAside = row.isAside === 1;
    known.deliveries = 0;
    this.#line.reconsider(known);
  }

  added(entry: Entry, seq: number): void {
    const { signal } = entry;
    if (signal === null) return;
    const { account, signalId } = entry;
    this.#line.add(
      createWaiting({ account, signalId, market: signal.market }, seq, { ...entry, signal }, false),
    );
  }

  left(key: EntryKey): void {
    this.#leave(deduplicationIdOf(key));
  }

  #leave(id: string): void {
    const item = this.#line.items.get(id);
    if (item === undefined) return;
    if (this.#line.isDelivered(item)) item.hasLeft = true;
    else this.#line.remove(item);
  }

  find(key: EntryKey): KnownEntry | null {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return null;
    return { seq: item.position, stored: item.stored, isOldest: !this.#line.hasOlder(item) };
  }

  take(): Delivery | null {
    const item = this.#line.take();
    if (item !== null) item.deliveries += 1;
    return item;
  }

  finish({ key }: Delivery): void {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return;
    if (item.hasLeft || !this.#isStillAccepted(item)) this.#line.remove(item);
    else this.#putBack(item);
  }

  /** Another process may have moved it on. Unless that is certain, it is delivered again, which does no harm. */
  #isStillAccepted({ position }: WaitingSignal): boolean {
    try {
      return this.#file.read(() => this.#statements.isWaiting.get(position)) !== undefined;
    } catch {
      return true;
    }
  }

  async release({ key }: Delivery): Promise<void> {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return;
    item.stored = null;
    if (item.hasLeft) {
      this.#line.remove(item);
      return;
    }
    if (item.deliveries < this.#options.maxDeliveries) {
      this.#putBack(item);
      return;
    }
    try {
      await this.#file.write(() => this.#statements.setAside.run(this.#options.clock.nowMs(), item.position));
    } catch (error) {
      this.#putBack(item);
      throw error;
    }
    item.isAside = true;
    this.#line.putBack(item, Promise.resolve());
    this.#options.onDeadLetter(item);
  }

  #putBack(item: WaitingSignal): void {
    this.#line.putBack(item, this.#options.clock.sleep(this.#options.retryDelayMs));
  }

  waitForWork(signal?: AbortSignal): Promise<void> {
    return this.#line.waitForFree(signal);
  }
}

function createWaiting(
  { account, signalId, market }: SignalMessage,
  seq: number,
  stored: SignalEntry | null,
  isAside: boolean,
): WaitingSignal {
  const key = { account, signalId, market };
  return {
    id: deduplicationIdOf(key),
    position: seq,
    group: groupOf(key),
    isAside,
    key,
    deliveries: 0,
    stored,
    hasLeft: false,
  };
}

function prepareStatements({ database }: SqliteFile) {
  return {
    waiting: database.prepare(
      `SELECT seq, account, signal_id AS signalId, market, set_aside_at_ms IS NOT NULL AS isAside FROM entries
       WHERE status = 'accepted' AND market IS NOT NULL ORDER BY seq`,
    ),
    isWaiting: database.prepare(`SELECT 1 FROM entries WHERE seq = ? AND status = 'accepted'`),
    setAside: database.prepare(
      `UPDATE entries SET set_aside_at_ms = ? WHERE seq = ? AND status = 'accepted'`,
    ),
    // Changes only when another connection has written.
    dataVersion: database.prepare('PRAGMA data_version'),
  };
}
