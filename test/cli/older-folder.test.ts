import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { ledgerScripts, queueScripts } from '../support/older-scripts.ts';
import { runCli } from './run-cli.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'older-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The database of a relay of an older release, which is running. */
function openOlder(): DatabaseSync {
  const database = new DatabaseSync(join(folder, 'relay.db'));
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  for (const script of [...ledgerScripts, ...queueScripts]) database.exec(script);
  const insert = database.prepare('INSERT INTO schema_versions VALUES (?, ?)');
  insert.run('ledger', ledgerScripts.length);
  insert.run('queue', queueScripts.length);
  return database;
}

test.each([['signals'], ['pause', 'main'], ['redrive']])(
  'a command leaves the tables of an older release to its relay, which may be running: %s',
  async (...command) => {
    using older = openOlder();
    const tables = older.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name');
    const before = tables.all();

    const { exitCode, stderr } = await runCli([...command, '--data', folder]);

    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('an older release wrote the data folder');
    expect(stderr).toContain('Stop that relay if it runs, then start this release');
    expect(tables.all()).toEqual(before);
  },
);

test('a command takes the folder as soon as a start has upgraded it', async () => {
  openOlder().close();
  const file = openSqlite(join(folder, 'relay.db'));
  createSqliteLedger(file);
  file.close();

  expect(await runCli(['signals', '--data', folder])).toMatchObject({ exitCode: 0 });
});
