import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { fillLedger } from './fill-ledger.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-fill-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a ledger is filled with copies that a relay can list, and keeps its indexes', async () => {
  const path = join(folder, 'relay.db');
  const before = openSqlite(path);
  for (const account of ['a', 'b'])
    await createSqliteLedger(before).refuse({
      account,
      signalId: 'refused-1',
      fingerprint: 'f1',
      step: { status: 'invalid', atMs: 1_767_268_800_000, note: 'no such ticker' },
    });
  const listIndexes = "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name";
  const indexes = before.database.prepare(listIndexes).all();
  before.close();

  fillLedger(path, 50);

  const after = openSqlite(path);
  const { entries } = await createSqliteLedger(after).list({ account: 'a', limit: 100 });
  expect(after.database.prepare(listIndexes).all()).toEqual(indexes);
  after.close();
  expect(entries).toHaveLength(25);
  expect(new Set(entries.map(({ signalId }) => signalId)).size).toBe(25);
  expect(new Set(entries.map(({ createdAtMs }) => createdAtMs)).size).toBe(25);
});
