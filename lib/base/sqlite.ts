import { DatabaseSync } from 'node:sqlite';
import { RelayError } from './errors.ts';

/** One embedded database file, shared by the stores of a local run. */
export interface SqliteFile {
  readonly database: DatabaseSync;
  /**
   * Runs the operation inside a transaction and resolves once it is on the disk.
   *
   * Writes of the same turn of the event loop share one transaction, and so one disk flush. The operation may be
   * run a second time when a neighbour in its transaction failed; it must touch nothing but the database.
   *
   * @throws RelayError `store_unavailable` when the database cannot take the write; what the operation throws
   */
  write<T>(operation: () => T): Promise<T>;
  close(): void;
}

interface PendingWrite {
  run(): void;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Opens (or creates) the file with a write-ahead log that is flushed at every commit, so that neither `kill -9` nor
 * a power cut takes back what was acknowledged.
 *
 * @param path a file path, or `:memory:`
 * @see https://www.sqlite.org/wal.html
 */
export function openSqlite(path: string): SqliteFile {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  let pending: PendingWrite[] = [];

  function transact(writes: readonly PendingWrite[]): void {
    begin.run();
    try {
      for (const write of writes) write.run();
      commit.run();
    } catch (error) {
      // A full disk or an I/O error has already rolled the transaction back.
      if (database.isTransaction) rollback.run();
      throw error;
    }
  }

  function settleTogether(writes: readonly PendingWrite[]): void {
    try {
      transact(writes);
    } catch (error) {
      if (writes.length === 1) writes[0]?.reject(storeError(error));
      // One of them failed: each goes alone, so that only the guilty one is refused.
      else for (const write of writes) settleTogether([write]);
      return;
    }
    for (const write of writes) write.resolve();
  }

  function flush(): void {
    const writes = pending;
    pending = [];
    settleTogether(writes);
  }

  return {
    database,
    write<T>(operation: () => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        let result: T;
        if (pending.length === 0) setImmediate(flush);
        pending.push({
          run: () => {
            result = operation();
          },
          resolve: () => resolve(result),
          reject,
        });
      });
    },
    close() {
      if (pending.length > 0) flush();
      database.close();
    },
  };
}

/** SQLite's own errors become the catalogue's; an operation's verdicts pass through. */
function storeError(error: unknown): unknown {
  if (error instanceof RelayError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new RelayError('store_unavailable', `the database could not be written: ${reason}`, {
    cause: error,
  });
}
