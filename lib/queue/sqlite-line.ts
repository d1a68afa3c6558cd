import type { StatementSync } from 'node:sqlite';
import type { Clock } from '../base/clock.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { Entry, EntryKey } from '../ledger/entry.ts';
import type { KnownEntry, LedgerWatch } from '../ledger/ledger-watch.ts';
import { migrateLedgerTables } from '../ledger/sqlite-migrations.ts';
import { deduplicationIdOf, groupOf } from './queue.ts';
import { prepareStatements, type WaitingRow } from './sqlite-line-statements.ts';
import { WaitingLine } from './waiting-line.ts';
import { createWaiting, type SignalDelivery, type WaitingSignal } from './waiting-signal.ts';

/** @see DECISIONS 70 */
export interface SqliteLineOptions {
  readonly clock: Clock;
  /** After this many deliveries without success a signal is set aside as a dead letter. */
  readonly maxDeliveries: number;
  /** How long a group pauses after one of its signals was released; 2 seconds by default. */
  readonly retryDelayMs?: number;
  /** Called for every signal that becomes a dead letter, before it is on the disk: it now waits for the operator. */
  readonly onDeadLetter?: (letter: SignalDelivery) => void;
}

/**
 * The signals that wait to be executed on one machine: a view of the ledger's `accepted` entries, oldest first.
 *
 * A signal is delivered as soon as the ledger has executed its write, which may be before it is on the disk. So whoever
 * executes it must do nothing that outlives a power cut before the ledger has acknowledged a later write.
 */
export interface SqliteLine extends LedgerWatch {
  /** The number of signals that are or will be delivered: all but the dead letters. */
  readonly length: number;
  /** Delivers the oldest signal of a group that no worker holds; null when there is none. */
  take(): SignalDelivery | null;
  /** Ends a delivery whose signal was executed. */
  finish(delivery: SignalDelivery): void;
  /**
   * Puts a signal back in its place; after too many deliveries it becomes a dead letter instead, unless it was sent and its
   * outcome is not stored.
   */
  release(delivery: SignalDelivery): Promise<void>;
  /** Puts a signal back in its place that only waits for another one: the delivery does not count. */
  postpone(delivery: SignalDelivery): void;
  /** Resolves as soon as `take` may have a signal to deliver, or when the signal aborts. */
  waitForWork(signal?: AbortSignal): Promise<void>;
  /**
   * Reads what another process changed, as a redrive does; cheap when there was nothing.
   *
   * @throws RelayError `store_unavailable`
   */
  takeInChanges(): void;
}

/**
 * Creates the line of an embedded ledger that one process owns. What is delivered, and how often, is only in memory: after
 * a crash every waiting signal that is no dead letter is delivered again at once. So is every signal that the crashed process
 * was sending: nobody else will record that its outcome is unknown before the reconciler does. Of every unknown outcome the
 * alarm is raised once more, because it may have been lost with the crashed process. A signal whose outcome could not be
 * stored keeps its place, too, and is delivered until one is.
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
    this.#dataVersion = this.#readVersion();
    this.#load(this.#statements.unfinished);
  }

  get length(): number {
    return [...this.#line.items.values()].filter(({ isAside }) => !isAside).length;
  }

  takeInChanges(): void {
    const version = this.#readVersion();
    if (version === this.#dataVersion && !this.#mustReload) return;
    this.reload();
    this.#dataVersion = version;
  }

  #readVersion(): number {
    return this.#file.read(() => Number(this.#statements.dataVersion.get()?.['data_version']));
  }

  reload(): void {
    this.#mustReload = true;
    this.#load(this.#statements.waiting);
  }

  #load(statement: StatementSync): void {
    const rows = this.#file.read(() => statement.all()) as unknown as readonly WaitingRow[];
    const left = new Set(this.#line.items.keys());
    for (const row of rows) {
      left.delete(deduplicationIdOf(row));
      this.#place(row);
    }
    // What the previous process left behind is delivered once, whatever is read meanwhile.
    for (const id of left) if (this.#line.items.get(id)?.isLeftOver !== true) this.#leave(id);
    this.#mustReload = false;
  }

  #place(row: WaitingRow): void {
    const known = this.#line.items.get(deduplicationIdOf(row));
    if (known === undefined) {
      const isLeftOver = row.isWaiting === 0;
      this.#line.add({ ...createWaiting(row, row.seq, null, row.isAside === 1), isLeftOver });
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
    const item = createWaiting(
      { account, signalId, market: signal.market },
      seq,
      { ...entry, signal },
      false,
    );
    const before = this.#line.items.get(item.id);
    item.isStoredAgain = before !== undefined && this.#line.isDelivered(before);
    this.#line.add(item);
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

  listWaiting(account: string, market: string, limit: number): readonly number[] {
    const waiting = this.#line.list(groupOf({ account, market })).filter(({ hasLeft }) => !hasLeft);
    return waiting.slice(0, limit).map(({ position }) => position);
  }

  find(key: EntryKey): KnownEntry | null {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return null;
    const { position: seq, stored, isStoredAgain } = item;
    return { seq, stored, isOldest: !this.#line.hasOlder(item), isStoredAgain };
  }

  take(): SignalDelivery | null {
    const item = this.#line.take();
    if (item !== null) item.deliveries += 1;
    return item;
  }

  finish({ key }: SignalDelivery): void {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return;
    if (item.hasLeft || !this.#isStill('isWaiting', item)) this.#line.remove(item);
    else this.#putBack(item);
  }

  /**
   * Whether a signal still waits, or is still being sent: another process may have moved it on. Unless that is certain, it is
   * delivered again, which does no harm.
   */
  #isStill(status: 'isWaiting' | 'isSending', { position, key }: WaitingSignal): boolean {
    const { account, signalId } = key;
    try {
      const row = this.#file.read(() => this.#statements[status].get(position, account, signalId));
      return row !== undefined;
    } catch {
      return true;
    }
  }

  async release({ key }: SignalDelivery): Promise<void> {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return;
    if (item.hasLeft || item.deliveries < this.#options.maxDeliveries) return this.#giveBack(item);
    item.stored = null;
    if (!(await this.#setAside(item))) {
      this.#line.remove(item);
      return;
    }
    item.isAside = true;
    this.#line.putBack(item, Promise.resolve());
  }

  postpone({ key }: SignalDelivery): void {
    const item = this.#line.items.get(deduplicationIdOf(key));
    if (item === undefined) return;
    item.deliveries -= 1;
    this.#giveBack(item);
  }

  #giveBack(item: WaitingSignal): void {
    item.stored = null;
    if (item.hasLeft && !this.#isStill('isSending', item)) {
      this.#line.remove(item);
      return;
    }
    // The later ones of its group wait until it is known again, or known to be unknown.
    item.isLeftOver ||= item.hasLeft;
    this.#putBack(item);
  }

  /** Returns false when another process has moved it on. */
  async #setAside(item: WaitingSignal): Promise<boolean> {
    const { account, signalId } = item.key;
    const nowMs = this.#options.clock.nowMs();
    try {
      const { result, durable } = this.#file.execute(() =>
        this.#statements.setAside.run(nowMs, item.position, account, signalId),
      );
      if (result.changes !== 1) return false;
      // Before it is on the disk: nobody else reports it after a crash.
      this.#options.onDeadLetter(item);
      await durable;
      return true;
    } catch (error) {
      // The line may have read the write that is lost.
      this.#mustReload = true;
      this.#putBack(item);
      throw error;
    }
  }

  #putBack(item: WaitingSignal): void {
    item.isStoredAgain = false;
    this.#line.putBack(item, this.#options.clock.sleep(this.#options.retryDelayMs));
  }

  waitForWork(signal?: AbortSignal): Promise<void> {
    return this.#line.waitForFree(signal);
  }
}
