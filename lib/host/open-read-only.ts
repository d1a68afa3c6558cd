import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { RelayError } from '../base/errors.ts';

/**
 * Opens a database that may not be changed. It is opened for writing only if a power cut left a transaction in it that
 * SQLite must undo first: it refuses to do that for a reader.
 *
 * @throws SQLite's error when the file does not exist, or is not a database
 */
export function openReadOnly(path: string): DatabaseSync {
  const isUnfinished = existsSync(`${path}-journal`);
  return isUnfinished ? new DatabaseSync(path) : new DatabaseSync(locate(path), { readOnly: true });
}

/** The version that the tables of a store have in a database file. */
export interface StoreVersion {
  readonly store: string;
  readonly version: number;
}

/**
 * Empty when the file does not exist or was created before stores had versions.
 *
 * @throws RelayError `store_unavailable` when the file cannot be read
 */
export function readVersions(path: string): readonly StoreVersion[] {
  if (!existsSync(path)) return [];
  try {
    using database = openReadOnly(path);
    if (!hasTable(database, 'schema_versions')) return [];
    const rows = database.prepare('SELECT store, version FROM schema_versions ORDER BY store').all();
    return rows.map(({ store, version }) => ({ store: String(store), version: Number(version) }));
  } catch (error) {
    throw new RelayError(
      'store_unavailable',
      `the database ${path} cannot be read (${String(error)}); nothing was started and nothing was changed`,
      { cause: error },
    );
  }
}

/** @param name null: any table */
export function hasTable(database: DatabaseSync, name: string | null): boolean {
  const found = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND (name = ?1 OR ?1 IS NULL)")
    .get(name);
  return found !== undefined;
}

/**
 * SQLite creates files next to a database with a write-ahead log even for a reader, unless the database is
 * declared immutable. If such a log was left behind, it must be read too; its files exist already then.
 */
function locate(path: string): URL {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  return url;
}
