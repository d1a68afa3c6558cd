import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createDataFolder, type DataFolder } from '../../lib/host/data-folder.ts';
import { checkFolderKind, claimLiveFolder, readFolderKind } from '../../lib/host/folder-kind.ts';
import { readVersions } from '../../lib/host/open-read-only.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';

const exchange = 'https://whitebit.com';

describe('a data folder', () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-kind-')));
  });
  afterEach(() => rmSync(folder.path, { recursive: true }));

  function useOnPaper(): void {
    const file = openSqlite(folder.databasePath);
    createSqliteLedger(file);
    file.close();
  }

  test('that was never used may become either', () => {
    // As a start leaves it that is killed at once.
    writeFileSync(folder.databasePath, '');

    expect(readFolderKind(folder)).toBeNull();
    for (const kind of ['paper', 'live'] as const) checkFolderKind(folder, kind, exchange);
  });

  test('with a ledger of any earlier release is of paper, and refused for a live run', () => {
    useOnPaper();

    expect(readFolderKind(folder)).toEqual({ kind: 'paper' });
    checkFolderKind(folder, 'paper', '');
    expect(() => checkFolderKind(folder, 'live', exchange)).toThrow(`"${folder.path}" is of paper`);
  });

  test('with a paper exchange is of paper, whatever became of its ledger', () => {
    writeFileSync(folder.paperPath, '');

    expect(() => checkFolderKind(folder, 'live', exchange)).toThrow('is of paper');
  });

  test('that a live run has claimed is refused on paper, and for another exchange', () => {
    claimLiveFolder(folder, exchange);
    claimLiveFolder(folder, 'https://elsewhere.test');
    useOnPaper();

    expect(readFolderKind(folder)).toEqual({ kind: 'live', exchange });
    checkFolderKind(folder, 'live', exchange);
    expect(() => checkFolderKind(folder, 'paper', '')).toThrow(`"${folder.path}" is LIVE`);
    expect(() => checkFolderKind(folder, 'live', 'https://whitebit.eu')).toThrow(
      'is of the exchange https://whitebit.com, and relay.config.ts names https://whitebit.eu',
    );
  });

  test('of a live run has a store that earlier releases do not know, so that they refuse it', () => {
    claimLiveFolder(folder, exchange);

    expect(readVersions(folder.databasePath)).toEqual([{ store: 'live folder', version: 1 }]);
  });
});
