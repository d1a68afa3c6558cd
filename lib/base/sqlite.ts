import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { RelayError } from './errors.ts';

/** One embedded database file, shared by the stores of a local run. */
export interface SqliteFile {
  readonly database: DatabaseSync;
  /**
   * Runs the operation inside a transaction and resolves once it is on the disk.
   *
   * Writes requested within two turns of the event loop share one transaction, and so one disk flush, in the
   * order of the requests. An operation that throws changes nothing, and the others of its transaction run
   * again without it. So an operation must change nothing but the database.
   *
   * @throws RelayError `store_unavailable` when the write fails; any other error that the operation throws
   */
  write<T>(operation: () => T): Promise<T>;
  /**
   * Runs a query. It sees every acknowledged write and no partial one.
   *
   * @throws RelayError `store_unavailable` when the database cannot be read
   */
  read<T>(query: () => T): T;
  /** Completes the writes already requested, then closes; a second call does nothing. */
  close(): void;
}

interface PendingWrite {
  run(): void;
  resolve(): void;
  reject(error: unknown): void;
}

/** Why a transaction did not commit; `guilty` is the operation that threw, if one did. */
interface FailedCommit {
  readonly error: unknown;
  readonly guilty: PendingWrite | null;
}

/**
 * How long to wait for another process's lock. The wait blocks the only thread, and TradingView gives up
 * after 3 s, so several waits in a row must stay below that.
 */
const lockTimeoutMs = 250;

/**
 * Opens or creates the file with a write-ahead log that is flushed at every commit, so that neither `kill -9`
 * nor a power cut loses an acknowledged write.
 *
 * @param path a file path, `:memory:`, or a URI (`file:…`) as SQLite reads it
 * @throws RelayError `store_unavailable` when the folder does not exist, or the file is not a database
 * @see https://www.sqlite.org/wal.html
 * @see https://www.sqlite.org/pragma.html#pragma_synchronous
 */
export function openSqlite(path: string): SqliteFile {
  const database = openDatabase(path);
  const settle = createSettler(database);
  let pending: PendingWrite[] = [];

  function flush(): void {
    const writes = pending;
    pending = [];
    settle(writes);
  }

  return {
    database,
    write<T>(operation: () => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        let result: T;
        // The second turn costs microseconds, and collects writes that have arrived meanwhile: fewer flushes
        // under load.
        if (pending.length === 0) setImmediate(() => setImmediate(flush));
        pending.push({
          run: () => {
            result = operation();
          },
          resolve: () => resolve(result),
          reject,
        });
      });
    },
    read<T>(query: () => T): T {
      try {
        return query();
      } catch (error) {
        throw storeError('read', error);
      }
    },
    close() {
      flush();
      if (database.isOpen) database.close();
    },
  };
}

/**
 * Migrates the tables of one store to the newest version, completely or not at all.
 *
 * @param store names the store within the file
 * @param migrations one SQL script per version, oldest first; a published one never changes
 * @throws RelayError `store_unavailable` when a newer release wrote the file, or a script fails
 */
export function migrateTables(file: SqliteFile, store: string, migrations: readonly string[]): void {
  const { database } = file;
  try {
    database.exec('BEGIN IMMEDIATE');
    database.exec(
      'CREATE TABLE IF NOT EXISTS schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID',
    );
    const row = database.prepare('SELECT version FROM schema_versions WHERE store = ?').get(store);
    const version = Number(row?.['version'] ?? 0);
    if (version > migrations.length) throw newerFile(store, version, migrations.length);
    for (const script of migrations.slice(version)) database.exec(script);
    if (version < migrations.length)
      database.prepare('INSERT OR REPLACE INTO schema_versions VALUES (?, ?)').run(store, migrations.length);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
    throw storeError('prepared', error);
  }
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
 * Creates an empty database file that only its owner can read, if there is none. SQLite gives the same mode
 * to the files beside it.
 *
 * An existing file is not opened: closing it would release the locks that this process holds on it.
 */
export function createForOwner(path: string): void {
  // These are not paths of files.
  if (path === ':memory:' || path.startsWith('file:')) return;
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // The file exists, or SQLite reports why it cannot be created.
  }
}

function createSettler(database: DatabaseSync): (writes: readonly PendingWrite[]) => void {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');

  function commitTogether(writes: readonly PendingWrite[]): FailedCommit | null {
    let running: PendingWrite | null = null;
    try {
      begin.run();
      for (running of writes) running.run();
      running = null;
      commit.run();
      return null;
    } catch (error) {
      // A full disk or an I/O error has already rolled the transaction back, and the other operations would
      // fail too.
      if (!database.isOpen || !database.isTransaction) return { error, guilty: null };
      rollback.run();
      return { error, guilty: running };
    }
  }

  return function settle(writes) {
    let remaining = writes;
    while (remaining.length > 0) {
      const failed = commitTogether(remaining);
      const { guilty } = failed ?? { guilty: null };
      for (const write of remaining) {
        if (failed === null) write.resolve();
        else if (guilty === null || write === guilty) write.reject(storeError('written', failed.error));
      }
      remaining = guilty === null ? [] : remaining.filter((write) => write !== guilty);
    }
  };
}

/** SQLite's own errors become `store_unavailable`; all other errors pass through. */
function storeError(done: string, error: unknown): unknown {
  if (!isSqliteError(error)) return error;
  const message = `the database could not be ${done}: ${error.message}`;
  return new RelayError('store_unavailable', message, { cause: error });
}

/** By code, not by class: an error of Node.js may come from another realm. */
function isSqliteError(error: unknown): error is { readonly message: string } {
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error))
    return false;
  return error.code === 'ERR_SQLITE_ERROR' || error.code === 'ERR_INVALID_STATE';
}

function newerFile(store: string, found: number, known: number): RelayError {
  return new RelayError(
    'store_unavailable',
    `the ${store} tables have version ${found}, and this release knows version ${known}: run the newer release that wrote them`,
  );
}
