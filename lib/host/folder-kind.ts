import { existsSync } from 'node:fs';
import { RelayError } from '../base/errors.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import { openSqlite } from '../base/sqlite.ts';
import type { DataFolder } from './data-folder.ts';
import { hasTable, openReadOnly } from './open-read-only.ts';

/** Where the orders of a run go, and so what its data folder is for. */
export type FolderKind = 'paper' | 'live';

/** Releases that know no live folder refuse a database with this store: they would trade on paper with its ledger. */
export const liveFolderStore = 'live folder';
export const liveFolderMigrations: readonly string[] = [
  'CREATE TABLE live_folder (exchange TEXT NOT NULL) STRICT',
];

/** What a folder remembers. A folder of earlier releases remembers nothing, and is of paper. */
export type RememberedKind =
  | { readonly kind: 'paper' }
  /** `exchange`: its address; null when the start that claimed the folder was killed. */
  | { readonly kind: 'live'; readonly exchange: string | null };

/**
 * What the folder is for; null when it was never used.
 *
 * @throws RelayError `store_unavailable` when its ledger cannot be read
 */
export function readFolderKind({ databasePath, paperPath }: DataFolder): RememberedKind | null {
  if (existsSync(paperPath)) return { kind: 'paper' };
  if (!existsSync(databasePath)) return null;
  try {
    using database = openReadOnly(databasePath);
    // A start that was killed at once leaves an empty file.
    if (!hasTable(database, null)) return null;
    if (!hasTable(database, 'live_folder')) return { kind: 'paper' };
    const row = database.prepare('SELECT exchange FROM live_folder').get();
    return { kind: 'live', exchange: row === undefined ? null : String(row['exchange']) };
  } catch (error) {
    throw new RelayError('store_unavailable', `the database ${databasePath} cannot be read`, {
      cause: error,
    });
  }
}

/**
 * Makes sure that the folder is of this kind, or was never used.
 *
 * @param exchange address of the exchange; of no importance on paper
 * @throws RelayError `folder_of_other_kind`
 */
export function checkFolderKind(folder: DataFolder, kind: FolderKind, exchange: string): void {
  const known = readFolderKind(folder);
  if (known === null) return;
  const refuse = (reason: string) =>
    new RelayError('folder_of_other_kind', `the data folder "${folder.path}" ${reason}; nothing was started`);
  if (known.kind !== kind)
    throw kind === 'live'
      ? refuse('is of paper: its ledger and keys are of the paper exchange, and `--live` takes none of them')
      : refuse('is LIVE: its ledger and keys are of a real exchange, and a run on paper takes none of them');
  if (known.kind === 'live' && known.exchange !== null && known.exchange !== exchange)
    throw refuse(
      `is of the exchange ${known.exchange}, and relay.config.ts names ${exchange}: the ledger of one exchange says nothing of another`,
    );
}

/**
 * Makes a checked folder a live one for good, before anything else is stored in it.
 *
 * @throws RelayError `store_unavailable` when that cannot be written
 */
export function claimLiveFolder({ databasePath }: DataFolder, exchange: string): void {
  const file = openSqlite(databasePath);
  try {
    migrateTables(file, liveFolderStore, liveFolderMigrations);
    file.execute(() =>
      file.database
        .prepare('INSERT INTO live_folder SELECT ? WHERE NOT EXISTS (SELECT 1 FROM live_folder)')
        .run(exchange),
    );
  } finally {
    file.close();
  }
}
