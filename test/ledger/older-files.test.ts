import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { migrations } from '../../lib/ledger/sqlite-migrations.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import { createSqliteLine, type SqliteLine } from '../../lib/queue/sqlite-line.ts';
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

/**
 * Creates a file as a release with that version of the ledger's tables wrote it.
 *
 * @param queue false: as a process that only read the ledger created it
 */
function writeOlderFile(path: string, version: number, queue = true): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL');
  for (const script of [...ledgerScripts.slice(0, version), ...(queue ? queueScripts : [])])
    database.exec(script);
  database.exec(
    `CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     INSERT INTO schema_versions VALUES ('ledger', ${version})${queue ? ", ('queue', 1)" : ''};
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
  if (queue) for (const id of ['waiting-1', 'waiting-2']) enqueueIn(database, id);
  database.close();
}

const bodyOf = (signalId: string) => JSON.stringify({ account: 'main', signalId, market: 'BTC_USDT' });

function enqueueIn(database: DatabaseSync, id: string): void {
  const enqueue = database.prepare(
    'INSERT INTO messages (deduplication_id, group_name, body, sent_at_ms) VALUES (?, ?, ?, ?)',
  );
  enqueue.run(`main.${id}`, 'main.BTC_USDT', bodyOf(id), noonMs);
}

function buryIn(database: DatabaseSync, body: string): void {
  database
    .prepare(
      'INSERT INTO dead_letters (group_name, body, receive_count, sent_at_ms, died_at_ms) VALUES (?, ?, 5, ?, ?)',
    )
    .run('main.BTC_USDT', body, noonMs, noonMs + 7);
}

/** Delivers every waiting signal; their ids in order. */
function deliverAll(line: SqliteLine): readonly string[] {
  const ids: string[] = [];
  for (let next = line.take(); next !== null; next = line.take()) {
    ids.push(next.key.signalId);
    line.left(next.key);
    line.finish(next);
  }
  return ids;
}

test('the migration scripts of earlier releases are unchanged', () => {
  expect(migrations.slice(0, ledgerScripts.length)).toEqual(ledgerScripts);
});

describe.each([1, 2, 3])('a data file with version %i of the ledger', (version) => {
  let folder: string;
  let file: SqliteFile;
  let line: SqliteLine;
  let ledger: Ledger;

  function open(): void {
    file = openSqlite(join(folder, 'relay.db'));
    line = createSqliteLine(file, { clock: createManualClock(noonMs), maxDeliveries: 5 });
    ledger = createSqliteLedger(file, line);
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
      execution: null,
    });
    expect(await ledger.readPause('second')).toEqual({ sinceMs: noonMs, reason: 'news', kind: 'everything' });
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
    expect(deliverAll(line)).toEqual(['lost-1', 'sent-1', 'waiting-1', 'waiting-2']);
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
    expect(deliverAll(line)).toEqual(['lost-1', 'sent-1', 'waiting-1', 'waiting-2', 'new']);
  });
});

describe('the file of an older release', () => {
  let folder: string;
  let path: string;
  const opened: SqliteFile[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'older-'));
    path = join(folder, 'relay.db');
  });
  afterEach(() => {
    for (const file of opened.splice(0)) file.close();
    rmSync(folder, { recursive: true });
  });

  function openLine(): { readonly file: SqliteFile; readonly line: SqliteLine } {
    const file = openSqlite(path);
    opened.push(file);
    return { file, line: createSqliteLine(file, { clock: createManualClock(noonMs), maxDeliveries: 5 }) };
  }

  function change(write: (database: DatabaseSync) => void): void {
    const database = new DatabaseSync(path);
    write(database);
    database.close();
  }

  test('of version 9 still shows the messages that it kept', async () => {
    writeOlderFile(path, 3);
    change((database) => {
      for (const script of migrations.slice(3, 9)) database.exec(script);
      database.exec(
        `UPDATE schema_versions SET version = 9 WHERE store = 'ledger';
         UPDATE entries SET fingerprint = 'f2' WHERE signal_id = 'denied-1';
         UPDATE entries SET account = 'second' WHERE signal_id = 'sent-1';
         INSERT INTO received_messages VALUES ('main', 'f1', 'buy', 0), ('second', 'f1', 'sell', 7);`,
      );
    });
    const ledger = createSqliteLedger(openLine().file);
    const shown = ['refused-1', 'waiting-1', 'waiting-2', 'denied-1'].map((signalId) =>
      ledger.readMessage({ account: 'main', signalId }),
    );

    const buy = { text: 'buy', omittedBytes: 0 };
    expect(await Promise.all(shown)).toEqual([buy, buy, buy, null]);
    expect(await ledger.readMessage({ account: 'second', signalId: 'sent-1' })).toEqual({
      text: 'sell',
      omittedBytes: 7,
    });
  });

  test('is taken over: dead letters stay dead letters, and come back by a redrive', async () => {
    writeOlderFile(path, 3);
    change((database) => {
      database.exec("DELETE FROM messages WHERE deduplication_id = 'main.waiting-1'");
      buryIn(database, bodyOf('waiting-1'));
    });
    const { file, line } = openLine();

    expect(deliverAll(line)).toEqual(['lost-1', 'sent-1', 'waiting-2']);
    const deadLetters = createSqliteDeadLetters(file);
    expect(deadLetters.count()).toMatchObject({ waiting: 1, deadLetters: 1 });
    expect(await deadLetters.redrive()).toEqual([{ group: 'main.BTC_USDT', body: bodyOf('waiting-1') }]);
    expect(deliverAll(openLine().line)).toEqual(['lost-1', 'sent-1', 'waiting-1', 'waiting-2']);
  });

  test('leaves no table and no version behind', () => {
    writeOlderFile(path, 3);
    const { file } = openLine();

    const tables = file.database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    expect(tables.map(({ name }) => name)).toEqual([
      'entries',
      'pauses',
      'schema_versions',
      'arrivals',
      'received_messages',
    ]);
    expect(file.database.prepare('SELECT * FROM schema_versions').all()).toEqual([
      { store: 'ledger', version: migrations.length },
    ]);
  });

  test('delivers a signal that has a dead letter and a message: it was redriven, or enqueued again', () => {
    writeOlderFile(path, 3);
    change((database) => buryIn(database, bodyOf('waiting-1')));

    expect(deliverAll(openLine().line)).toEqual(['lost-1', 'sent-1', 'waiting-1', 'waiting-2']);
  });

  test('ignores dead letters of signals that have ended, and of texts that are no pointers', () => {
    writeOlderFile(path, 3);
    change((database) => {
      for (const body of [
        bodyOf('denied-1'),
        bodyOf('nowhere'),
        'no JSON',
        '',
        '[1]',
        'null',
        '{"account":1}',
      ])
        buryIn(database, body);
    });
    const { file, line } = openLine();

    expect(deliverAll(line)).toEqual(['lost-1', 'sent-1', 'waiting-1', 'waiting-2']);
    expect(createSqliteDeadLetters(file).count()).toMatchObject({ waiting: 2, deadLetters: 0 });
  });

  test('need not exist', () => {
    writeOlderFile(path, 3, false);
    expect(deliverAll(openLine().line)).toEqual(['lost-1', 'sent-1', 'waiting-1', 'waiting-2']);
  });
});
