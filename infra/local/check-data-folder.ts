import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { RelayError } from '../../lib/base/errors.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { checkFileSecrets } from '../../lib/host/file-secrets.ts';
import { accountFactsMigrations as accountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { changesMigrations as changes } from '../../lib/ledger/sqlite-changes.ts';
import { executionsMigrations as executions } from '../../lib/ledger/sqlite-executions.ts';
import { marketCopiesMigrations as marketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { migrations as ledger } from '../../lib/ledger/sqlite-migrations.ts';
import { channelStatesMigrations as channelStates } from '../../lib/notices/sqlite-channel-states.ts';
import { journalMigrations as paperJournal } from '../../lib/paper/engine/journal.ts';
import { snapshotsMigrations as snapshots } from '../../lib/snapshots/sqlite-snapshots.ts';

/** The highest version that this release reads, by database file and store. */
const knownVersions = {
  databasePath: {
    ledger: ledger.length,
    // Its tables are part of the ledger since ledger version 4, which takes them over.
    queue: 1,
    'market-copies': marketCopies.length,
    executions: executions.length,
    'account-facts': accountFacts.length,
    snapshots: snapshots.length,
    'ledger-changes': changes.length,
    notices: channelStates.length,
  },
  paperPath: { 'paper journal': paperJournal.length },
} as const satisfies Partial<Record<keyof DataFolder, Readonly<Record<string, number>>>>;

/**
 * Makes sure that this release can read the whole folder before it changes anything. Each store upgrades its
 * own tables, so an unreadable store must be found before the others are upgraded.
 *
 * @throws RelayError `data_folder_newer` when a newer release wrote any part of it; `store_unavailable`,
 *   `secrets_missing` when one of its files cannot be read
 * @see DECISIONS 105
 */
export function checkDataFolder(folder: DataFolder): void {
  for (const [place, stores] of Object.entries(knownVersions))
    checkFile(folder, folder[place as keyof typeof knownVersions], stores);
  checkFileSecrets(folder.secretsPath);
}

function checkFile(folder: DataFolder, path: string, stores: Readonly<Record<string, number>>): void {
  for (const { store, version } of readVersions(path)) {
    const known = Object.hasOwn(stores, store) ? (stores[store] ?? 0) : 0;
    if (version > known)
      throw new RelayError(
        'data_folder_newer',
        `a newer release wrote the data folder "${folder.path}": its ${store} has version ${version}, and this release reads ${known === 0 ? 'no version of it' : `at most version ${known}`}; nothing was started and nothing was changed`,
      );
  }
}

interface StoreVersion {
  readonly store: string;
  readonly version: number;
}

/**
 * Opens the file read-only, unless a power cut left a transaction in it that SQLite must undo first: it refuses to do
 * that for a reader. Empty when the file does not exist or was created before stores had versions.
 */
function readVersions(path: string): readonly StoreVersion[] {
  if (!existsSync(path)) return [];
  try {
    const isUnfinished = existsSync(`${path}-journal`);
    using database = isUnfinished
      ? new DatabaseSync(path)
      : new DatabaseSync(locate(path), { readOnly: true });
    const table = database
      .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_versions'")
      .get();
    if (table === undefined) return [];
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

/**
 * SQLite creates files next to a database with a write-ahead log even for a reader, unless the database is
 * declared immutable. If such a log was left behind, it must be read too; its files exist already then.
 */
function locate(path: string): URL {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  return url;
}
