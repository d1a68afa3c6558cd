import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from '@jest/globals';
import { checkDataFolder } from '../../infra/local/check-data-folder.ts';
import { createDataFolder } from '../../lib/host/data-folder.ts';

const path = mkdtempSync(join(tmpdir(), 'relay-unfinished-'));
afterAll(() => rmSync(path, { recursive: true }));

test('a transaction that a power cut left unfinished does not keep the relay from starting', () => {
  const folder = createDataFolder(path);
  const source = join(folder.path, 'source');
  const database = new DatabaseSync(source);
  database.exec('CREATE TABLE words (word TEXT); PRAGMA cache_size = 1; BEGIN');
  const insert = database.prepare('INSERT INTO words VALUES (?)');
  // More than the cache holds, so that the file is changed and its journal is on the disk.
  for (let row = 0; row < 1000; row += 1) insert.run('a word'.repeat(100));
  for (const ending of ['', '-journal'])
    copyFileSync(`${source}${ending}`, `${folder.databasePath}${ending}`);
  database.close();
  // The power cut came when SQLite went on to a write-ahead log, and the removal of the journal did not reach the disk.
  writeFileSync(`${folder.databasePath}-wal`, '');

  expect(() => checkDataFolder(folder)).not.toThrow();
});
