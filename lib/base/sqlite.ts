import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { RelayError } from './errors.ts';
import { giveToFolderOwner } from './keep-owner.ts';
import { storeError } from './sqlite-error.ts';
import { beginPatiently, lockTimeoutMs } from './sqlite-lock.ts';

/**
 * One embedded database file, shared by the stores of a local run.
 *
 * @see DECISIONS 133
 */
export interface SqliteFile {
  readonly database: DatabaseSync;
  /**
   * Runs the operation at once, inside the open transaction. The transaction is committed two turns of the event loop
   * later, so that operations of that time share one disk flush. An operation that throws changes nothing, and has no
   * effect on the others, unless the disk failed it: that ends the transaction with all of them.
   *
   * The result is not on the disk yet. It may be used for what a power cut may undo, and for nothing else. Transactions
   * are committed in order, so whatever is written after it is on the disk only when this is.
   *
   * @throws RelayError `store_unavailable` when the database cannot be written; any other error that the operation throws
   */
  execute<T>(operation: () => T): Executed<T>;
  /**
   * Does the same with what must outlive the transaction: if that is not committed, the operation is executed again at the
   * beginning of the next one, until one is committed. So whatever is written after it is on the disk only when this is.
   *
   * @param committed called once it is on the disk
   * @throws RelayError `store_unavailable` when it waits for the next transaction; any other error that it throws itself, and
   * then it is not executed again
   */
  insist(operation: () => void, committed?: () => void): void;
  /** Does the same as `execute`, and resolves with the result once it is on the disk. */
  write<T>(operation: () => T): Promise<T>;
  /**
   * Runs a query. It sees every operation that was executed, on the disk or not, and no partial one.
   *
   * @throws RelayError `store_unavailable` when the database cannot be read
   */
  read<T>(query: () => T): T;
  /**
   * Runs a query that sees nothing but what is on the disk: at once, or as soon as the open transaction is committed or lost.
   *
   * @throws RelayError `store_unavailable` when the database cannot be read
   */
  readDurable<T>(query: () => T): Promise<T>;
  /**
   * Resolves when all that a query sees by now is on the disk.
   *
   * @throws RelayError `store_unavailable` when it was not committed
   */
  flushed(): Promise<void>;
  /** Completes the writes already requested, then closes; a second call does nothing. */
  close(): void;
}

/** An operation that was executed in the open transaction. */
export interface Executed<T> {
  readonly result: T;
  /**
   * Resolves when the result is on the disk. Rejects with RelayError `store_unavailable` when the transaction was not
   * committed; the operation has no effect then.
   */
  readonly durable: Promise<void>;
}

/** Calls back when the open transaction is to be committed. */
export type ScheduleFlush = (flush: () => void) => void;

/** The second turn costs microseconds, and collects writes that have arrived meanwhile: fewer flushes under load. */
const afterTwoTurns: ScheduleFlush = (flush) => {
  setImmediate(() => setImmediate(flush));
};

/**
 * Opens or creates the file with a write-ahead log that is flushed at every commit, so that neither `kill -9`
 * nor a power cut loses an acknowledged write.
 *
 * @param path a file path, `:memory:`, or a URI (`file:…`) as SQLite reads it
 * @throws RelayError `store_unavailable` when the folder does not exist, or the file is not a database
 * @see https://www.sqlite.org/wal.html
 * @see https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteFile {
  return createSqliteFile(openDatabase(path), options);
}

export interface SqliteOptions {
  /** For a process that may block for seconds: how long it waits for another one's lock. Absent: 250 ms. */
  readonly patienceMs?: number;
  /** Absent: two turns of the event loop after the first operation of a transaction. */
  readonly scheduleFlush?: ScheduleFlush;
}

/** Takes over an open database. */
export function createSqliteFile(database: DatabaseSync, options: SqliteOptions = {}): SqliteFile {
  return new TransactedFile(database, options);
}

class TransactedFile implements SqliteFile {
  readonly database: DatabaseSync;
  readonly #patienceMs: number;
  readonly #scheduleFlush: ScheduleFlush;
  readonly #statements: ReturnType<typeof prepareTransaction>;
  /** Null while no transaction is open. */
  #flush: Flush | null = null;
  /** Why the last transaction could not be opened: until its flush is due, no operation waits for the same lock again. */
  #failure: unknown = null;
  #isScheduled = false;
  /** What must be in a transaction that is committed, oldest first. */
  #owed: Owed[] = [];

  constructor(database: DatabaseSync, { patienceMs = 0, scheduleFlush = afterTwoTurns }: SqliteOptions) {
    this.database = database;
    this.#patienceMs = patienceMs;
    this.#scheduleFlush = scheduleFlush;
    this.#statements = prepareTransaction(database);
  }

  execute<T>(operation: () => T): Executed<T> {
    const { durable } = this.#open();
    return { result: this.#run(operation), durable };
  }

  insist(operation: () => void, committed: () => void = () => undefined): void {
    const owed = { operation, committed, isExecuted: false };
    this.#owed = [...this.#owed, owed].slice(-mostOwed);
    this.#open();
    this.#pay(owed);
  }

  async write<T>(operation: () => T): Promise<T> {
    const { result, durable } = this.execute(operation);
    await durable;
    return result;
  }

  read<T>(query: () => T): T {
    try {
      return query();
    } catch (error) {
      throw storeError('read', error);
    }
  }

  async readDurable<T>(query: () => T): Promise<T> {
    const flush = this.#flush;
    if (flush === null) return this.read(query);
    return await new Promise((resolve, reject) => {
      flush.readers.push(() => {
        try {
          resolve(this.read(query));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  async flushed(): Promise<void> {
    await this.#flush?.durable;
  }

  close(): void {
    this.#commit();
    if (this.#owed.length > 0) this.#tryOwed();
    if (this.database.isOpen) this.database.close();
  }

  #open(): Flush {
    if (this.#flush !== null) return this.#flush;
    if (this.#failure !== null) throw this.#failure;
    this.#schedule();
    try {
      this.#begin();
    } catch (error) {
      this.#failure = storeError('written', error);
      throw this.#failure;
    }
    const flush = createFlush();
    this.#flush = flush;
    for (const owed of this.#owed) this.#pay(owed);
    return flush;
  }

  /** @throws RelayError `store_unavailable`: then the transaction is lost, since nothing may be written without it */
  #pay(owed: Owed): void {
    if (owed.isExecuted) return;
    try {
      this.#run(owed.operation);
      owed.isExecuted = true;
    } catch (error) {
      if (!(error instanceof RelayError)) this.#owed = this.#owed.filter((other) => other !== owed);
      else if (this.#flush !== null) this.#rollBack(error);
      throw error;
    }
  }

  #tryOwed(): void {
    try {
      this.#open();
      this.#commit();
    } catch {
      // The disk did not take it while it could.
    }
  }

  #begin(): void {
    if (this.#patienceMs > 0) beginPatiently(this.database, performance.now() + this.#patienceMs);
    else this.#statements.begin.run();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#scheduleFlush(() => {
      this.#isScheduled = false;
      this.#commit();
    });
  }

  #run<T>(operation: () => T): T {
    const { savepoint, release } = this.#statements;
    try {
      savepoint.run();
      const result = operation();
      release.run();
      return result;
    } catch (error) {
      const failure = storeError('written', error);
      this.#undo(failure);
      throw failure;
    }
  }

  /** Undoes the operation that failed, or, if that fails too, the whole transaction: no half of an operation may stay. */
  #undo(failure: unknown): void {
    const { undo, release } = this.#statements;
    if (this.database.isOpen && this.database.isTransaction)
      try {
        undo.run();
        release.run();
        return;
      } catch {
        if (this.database.isTransaction) this.#statements.rollback.run();
      }
    this.#lose(failure);
  }

  #rollBack(failure: unknown): void {
    if (this.database.isOpen && this.database.isTransaction) this.#statements.rollback.run();
    this.#lose(failure);
  }

  #commit(): void {
    this.#failure = null;
    const flush = this.#flush;
    if (flush === null) return;
    try {
      this.#statements.commit.run();
    } catch (error) {
      this.#rollBack(storeError('written', error));
      return;
    }
    this.#flush = null;
    const paid = this.#owed.filter(({ isExecuted }) => isExecuted);
    this.#owed = this.#owed.filter(({ isExecuted }) => !isExecuted);
    for (const { committed } of paid) committed();
    for (const read of flush.readers) read();
    flush.resolve();
  }

  /** A full disk or an I/O error rolls the whole transaction back, with all its operations. */
  #lose(failure: unknown): void {
    const flush = this.#flush;
    this.#flush = null;
    for (const owed of this.#owed) owed.isExecuted = false;
    for (const read of flush?.readers ?? []) read();
    flush?.reject(failure);
  }
}

/** An operation that is executed until it is committed. */
interface Owed {
  readonly operation: () => void;
  readonly committed: () => void;
  /** In the open transaction. */
  isExecuted: boolean;
}

/** A disk that is full for weeks must not fill the memory. */
const mostOwed = 10_000;

/** The end of one transaction. */
interface Flush {
  readonly durable: Promise<void>;
  /** Called in the moment after it, when no transaction is open. */
  readonly readers: (() => void)[];
  resolve(): void;
  reject(failure: unknown): void;
}

function createFlush(): Flush {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Whoever waits for it handles the rejection. A transaction that nobody waits for must not end the process.
  promise.catch(() => undefined);
  return { durable: promise, readers: [], resolve, reject };
}

function prepareTransaction(database: DatabaseSync) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    savepoint: database.prepare('SAVEPOINT operation'),
    release: database.prepare('RELEASE operation'),
    undo: database.prepare('ROLLBACK TO operation'),
  };
}

function openDatabase(path: string): DatabaseSync {
  try {
    createForOwner(path);
    const database = new DatabaseSync(path, { timeout: lockTimeoutMs });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return database;
  } catch (error) {
    throw storeError(`opened at ${path}`, error);
  }
}

/**
 * Creates an empty database file that only its owner can read, if there is none: the owner of the folder, when root
 * creates it. SQLite gives the same mode and owner to the files beside it.
 *
 * An existing file is not opened: closing it would release the locks that this process holds on it.
 */
export function createForOwner(path: string): void {
  // These are not paths of files.
  if (path === ':memory:' || path.startsWith('file:')) return;
  try {
    closeSync(openSync(path, 'wx', 0o600));
    giveToFolderOwner(path);
  } catch {
    // The file exists, or SQLite reports why it cannot be created.
  }
}
