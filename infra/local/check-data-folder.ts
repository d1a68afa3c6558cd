import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../lib/base/describe-error.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { DataFolder } from '../../lib/host/data-folder.ts';
import { checkFileSecrets } from '../../lib/host/file-secrets.ts';
import { liveFolderMigrations, liveFolderStore } from '../../lib/host/folder-kind.ts';
import { readVersions } from '../../lib/host/open-read-only.ts';
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
    [liveFolderStore]: liveFolderMigrations.length,
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

/**
 * Makes sure that the folder and what it holds can be written, before anything is started that would find out only with the
 * first alert.
 *
 * @throws RelayError `store_unavailable`
 */
export function checkWritable({ path, ...files }: DataFolder): void {
  try {
    rmSync(mkdtempSync(join(path, 'probe-')), { recursive: true });
    for (const file of Object.values(files)) if (existsSync(file)) accessSync(file, constants.W_OK);
  } catch (error) {
    throw new RelayError(
      'store_unavailable',
      `the data folder "${path}" cannot be written: ${describeError(error)}; make it writable for the user who runs the relay, or choose another with --data`,
      { cause: error },
    );
  }
}
