import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { migrations } from '../../lib/ledger/sqlite-migrations.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { createSqliteQueue, type SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { messagesOf } from '../../lib/relay/message-of.ts';
import { idsOf } from '../queue/queue-contract.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { ledgerScripts, queueScripts } from '../support/older-scripts.ts';
import { orderEntry, signal } from './ledger-contract.ts';

const noonMs = 1_767_268_800_000;
/** With the field names that files use. */
const storedLookup = {
  count: 2,
  misses: 1,
  firstMissAtMs: noonMs,
  lastAtMs: noonMs,
  dueAtMs: noonMs + 60_000,
  alarmedAtMs: noonMs,
  finding: 'in no list',
};

const lookup = {
  count: 2,
  notFound: 1,
  firstNotFoundAtMs: noonMs,
  lastAtMs: noonMs,
  dueAtMs: noonMs + 60_000,
  alarmedAtMs: noonMs,
  finding: 'in no list',
};

/** Older releases called base units "stock". */
const storedSignal = JSON.stringify({ ...signal, size: { ...signal.size, unit: 'stock' } });

const rows: readonly (readonly [string, Status, number | null])[] = [
  ['refused-1', 'invalid', null],
  ['placed-1', 'placed', 77],
  ['denied-1', 'denied', null],
  ['lost-1', 'unknown', null],
  ['sent-1', 'sending', null],
  ['waiting-1', 'accepted', null],
  ['waiting-2', 'accepted', null],
];

/** Creates a file as a release with that version of the ledger's tables wrote it. */
function writeOlderFile(path: string, version: number): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL');
  for (const script of [...ledgerScripts.slice(0, version), ...queueScripts]) database.exec(script);
  database.exec(
    `CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     INSERT INTO schema_versions VALUES ('ledger', ${version}), ('queue', 1);
     INSERT INTO pauses VALUES ('second', ${noonMs}, 'news');`,
  );
  const insert = database.prepare(
    `INSERT INTO entries (account, signal_id, status, signal, market, client_order_id, fingerprint, created_at_ms,
       updated_at_ms, accepted_at_ms, ordered_at_ms, steps, order_id, order_open)
     VALUES ('main', ?1, ?2, ?3, ?4, ?5, 'f1', ?6, ?6, ?7, ?8, ?9, ?10, ?11)`,
  );
  for (const [index, [id, status, orderId]] of rows.entries()) {
    const atMs = noonMs + index;
    const isSignal = status !== 'invalid';
    const wasSent = status === 'sending' || status === 'placed' || status === 'unknown';
    insert.run(
      id,
      status,
      isSignal ? storedSignal : null,
      isSignal ? 'BTC_USDT' : null,
      isSignal ? `r-${id}` : null,
      atMs,
      isSignal ? atMs : null,
      wasSent ? atMs : null,
      JSON.stringify([{ status, atMs, note: 'as it was' }]),
      orderId,
      Number(status === 'placed' || status === 'unknown'),
    );
  }
  if (version >= 2)
    database
      .prepare('UPDATE entries SET look = ?, look_due_at_ms = ? WHERE status = ?')
      .run(JSON.stringify(storedLookup), storedLookup.dueAtMs, 'unknown');
  const enqueue = database.prepare(
    'INSERT INTO messages (deduplication_id, group_name, body, sent_at_ms) VALUES (?, ?, ?, ?)',
  );
  for (const id of ['waiting-1', 'waiting-2'])
    enqueue.run(
      `main.${id}`,
      'main.BTC_USDT',
      JSON.stringify({ account: 'main', signalId: id, market: 'BTC_USDT' }),
      noonMs,
    );
  database.close();
}

test('the migration scripts of earlier releases are unchanged', () => {
  expect(migrations.slice(0, ledgerScripts.length)).toEqual(ledgerScripts);
});

describe.each([1, 2])('a data file with version %i of the ledger', (version) => {
  let folder: string;
  let file: SqliteFile;
  let queue: SqliteQueue;
  let ledger: Ledger;

  function open(): void {
    file = openSqlite(join(folder, 'relay.db'));
    queue = createSqliteQueue(file, { clock: createManualClock(noonMs), maxReceives: 5 });
    ledger = createSqliteLedger(file, (entries) => queue.stage(messagesOf(entries)));
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'older-'));
    writeOlderFile(join(folder, 'relay.db'), version);
    open();
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });

  test('keeps every entry as it was', async () => {
    const { entries } = await ledger.list({ limit: 100, oldestFirst: true });

    expect(entries.map(({ signalId, status, orderId }) => [signalId, status, orderId])).toEqual(rows);
    expect(await ledger.read({ account: 'main', signalId: 'placed-1' })).toStrictEqual({
      account: 'main',
      signalId: 'placed-1',
      status: 'placed',
      signal,
      clientOrderId: 'r-placed-1',
      fingerprint: 'f1',
      createdAtMs: noonMs + 1,
      updatedAtMs: noonMs + 1,
      steps: [{ status: 'placed', atMs: noonMs + 1, note: 'as it was' }],
      orderId: 77,
      orderOpen: true,
      lookup: null,
    });
    expect(await ledger.readPause('second')).toEqual({ sinceMs: noonMs, reason: 'news' });
  });

  test('is found through every index', async () => {
    const idsIn = (entries: readonly { readonly signalId: string }[]) =>
      entries.map(({ signalId }) => signalId);

    expect(idsIn(await ledger.waiting('main', 'BTC_USDT', 10))).toEqual(['waiting-1', 'waiting-2']);
    expect(idsIn(await ledger.openOrders('main', 'BTC_USDT', 10))).toEqual(['lost-1', 'placed-1']);
    expect(await ledger.findOrder('main', 'BTC_USDT', 77)).toMatchObject({ signalId: 'placed-1' });
    expect((await ledger.list({ account: 'main', limit: 10 })).entries).toHaveLength(7);
    const [lost] = await ledger.dueLookups(noonMs + 60_000, 10);
    expect(lost).toMatchObject({
      signalId: 'lost-1',
      lookup: version === 1 ? { count: 0, notFound: 0, firstNotFoundAtMs: null } : lookup,
    });
  });

  test('delivers waiting signals once, and keeps limits and resends', async () => {
    expect(idsOf(await queue.receive(10))).toEqual(['waiting-1', 'waiting-2']);
    expect(await queue.receive(10)).toEqual([]);
    const atMs = noonMs + 100;
    expect(await ledger.accept([orderEntry('waiting-1', { atMs })], { maxPerMinute: 6 })).toMatchObject({
      result: 'stored',
      signals: [{ isNew: false }],
    });
    expect(await ledger.accept([orderEntry('new', { atMs })], { maxPerMinute: 6 })).toEqual({
      result: 'over_limit',
      count: 6,
    });
    const step = { status: 'sending', atMs, note: '' } as const;
    const key = { account: 'main', signalId: 'waiting-1' };
    expect(await ledger.start(key, step, { maxPerMinute: 3 })).toEqual({ result: 'over_limit', count: 3 });
    expect(await ledger.start(key, step, { maxPerMinute: 4 })).toEqual({ result: 'started' });
  });

  test('is upgraded once', async () => {
    await ledger.accept([orderEntry('new')], null);
    file.close();

    open();

    expect((await ledger.list({ limit: 100 })).entries).toHaveLength(8);
    expect(idsOf(await queue.receive(10))).toEqual(['waiting-1', 'waiting-2', 'new']);
  });
});
