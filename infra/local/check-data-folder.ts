import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { RelayError } from '../../lib/base/errors.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { checkFileSecrets } from '../../lib/host/file-secrets.ts';
import { migrations as ledger } from '../../lib/ledger/sqlite-entries.ts';
import { migrations as marketCopies } from '../../lib/ledger/sqlite-market-copies.ts';
import { migrations as paperJournal } from '../../lib/paper/journal.ts';
import { migrations as queue } from '../../lib/queue/sqlite-queue.ts';
import { migrations as snapshots } from '../../lib/snapshots/sqlite-snapshots.ts';

/** How many versions of its tables this release knows of each store, by the file it is in. */
const knownVersions = {
  databasePath: { ledger, queue, 'market-copies': marketCopies, snapshots },
  paperPath: { 'paper journal': paperJournal },
} as const satisfies Partial<Record<keyof DataFolder, Readonly<Record<string, readonly string[]>>>>;

/**
 * Makes sure that this release can read the whole folder, before anything in it is changed: each store upgrades its own
 * tables, and one that could not must not be found after others did.
 *
 * @throws RelayError `data_folder_newer` when a newer release wrote any of it; `store_unavailable`, `secrets_missing`
 *   when a file of it cannot be read
 */
export function checkDataFolder(folder: DataFolder): void {
  for (const [place, stores] of Object.entries(knownVersions))
    checkFile(folder, folder[place as keyof typeof knownVersions], stores);
  checkFileSecrets(folder.secretsPath);
}

function checkFile(
  folder: DataFolder,
  path: string,
  stores: Readonly<Record<string, readonly string[]>>,
): void {
  for (const { store, version } of readVersions(path)) {
    const known = Object.hasOwn(stores, store) ? (stores[store]?.length ?? 0) : 0;
    if (version > known)
      throw new RelayError(
        'data_folder_newer',
        `a newer release wrote the data folder "${folder.path}": its ${store} is of version ${version}, and this release knows ${known === 0 ? 'none' : `${known} at most`}; nothing was started and nothing was changed`,
      );
  }
}

interface StoreVersion {
  readonly store: string;
  readonly version: number;
}

/** Read only: none for a file that is not there, or that was made before its tables had versions. */
function readVersions(path: string): readonly StoreVersion[] {
  if (!existsSync(path)) return [];
  try {
    using database = new DatabaseSync(locate(path), { readOnly: true });
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
 * Even a reader makes files beside a database with a write-ahead log, unless it is told that nobody writes. Where such
 * a log was left behind it has to be read, too, and the files are there already.
 */
function locate(path: string): URL {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  return url;
}
