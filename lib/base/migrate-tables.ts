import type { DatabaseSync } from 'node:sqlite';
import { RelayError } from './errors.ts';
import type { SqliteFile } from './sqlite.ts';
import { storeError } from './sqlite-error.ts';

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
    // Reading needs no lock, and nearly always there is nothing to do.
    if (readTablesVersion(database, store) === migrations.length) return;
    database.exec('BEGIN IMMEDIATE');
    database.exec(
      'CREATE TABLE IF NOT EXISTS schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID',
    );
    const version = readTablesVersion(database, store);
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

/** The version of the tables of a store; 0 when it has none. */
export function readTablesVersion(database: DatabaseSync, store: string): number {
  const isKnown = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_versions'").get();
  if (isKnown === undefined) return 0;
  const row = database.prepare('SELECT version FROM schema_versions WHERE store = ?').get(store);
  return Number(row?.['version'] ?? 0);
}

function newerFile(store: string, found: number, known: number): RelayError {
  return new RelayError(
    'store_unavailable',
    `the ${store} tables have version ${found}, and this release knows version ${known}: run the newer release that wrote them`,
  );
}
