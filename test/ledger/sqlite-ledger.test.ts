import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { createSqliteFile, openSqlite } from '../../lib/base/sqlite.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { acceptOne } from '../support/accept-one.ts';
import { damageRow } from '../support/damage-row.ts';
import { override } from '../support/override.ts';
import { describeDamage } from './damage-contract.ts';
import { describeFinding } from './find-contract.ts';
import { describeLedger, type LedgerFixture, orderEntry } from './ledger-contract.ts';
import { describeLookups } from './lookup-contract.ts';
import { describeRepeats } from './repeat-contract.ts';
import { describeStateMachine, type SharedLedger } from './state-machine.ts';

async function openInMemory(): Promise<LedgerFixture> {
  const file = openSqlite(':memory:');
  return {
    ledger: createSqliteLedger(file),
    reopen: async () => createSqliteLedger(file),
    close: async () => file.close(),
  };
}

async function openOnDisk(): Promise<LedgerFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  let file = openSqlite(join(folder, 'relay.db'));
  return {
    ledger: createSqliteLedger(file),
    async reopen() {
      file.close();
      file = openSqlite(join(folder, 'relay.db'));
      return createSqliteLedger(file);
    },
    async close() {
      file.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describeLedger('a ledger in memory', openInMemory);
describeLedger('a ledger on the disk', openOnDisk);
describeLookups('a ledger on the disk', openOnDisk);
describeFinding('a ledger on the disk', openOnDisk);

test('an entry is read once it cannot be lost any more', async () => {
  const flushes: (() => void)[] = [];
  const file = createSqliteFile(new DatabaseSync(':memory:'), {
    scheduleFlush: (flush) => flushes.push(flush),
  });
  const ledger = createSqliteLedger(file);
  const flush = () => {
    for (const flushNow of flushes.splice(0)) flushNow();
  };
  flush();
  const accepted = [ledger.accept([orderEntry('a')], null)];
  let hasRead = false;
  const reading = ledger.read({ account: 'main', signalId: 'a' }).then((entry) => {
    hasRead = true;
    return entry;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasRead).toBe(false);
  flush();
  expect(await reading).toMatchObject({ signalId: 'a', status: 'accepted' });

  accepted.push(ledger.accept([orderEntry('b')], null));
  const lost = ledger.read({ account: 'main', signalId: 'b' });
  file.database.exec('ROLLBACK');
  flush();
  await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
  expect((await Promise.allSettled(accepted)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  file.close();
});

/**
 * Two open ledgers on one file, as the relay and the CLI have.
 *
 * Of two processes, one waits for the lock of the other. In one process that wait would block the writer that it waits
 * for, so writes that begin at once are made in turns here.
 */
async function openTwice(): Promise<SharedLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  const files = [openSqlite(join(folder, 'relay.db')), openSqlite(join(folder, 'relay.db'))] as const;
  let turn: Promise<unknown> = Promise.resolve();
  /** A refused move has an open transaction, too, in which it changes nothing. */
  async function committed(): Promise<void> {
    while (files.some(({ database }) => database.isTransaction))
      await new Promise((resolve) => setImmediate(resolve));
  }
  function inTurn<T>(write: () => Promise<T>): Promise<T> {
    const done = turn.then(write).finally(committed);
    turn = done.catch(() => undefined);
    return done;
  }
  function writingInTurns(ledger: Ledger): Ledger {
    return override(ledger, {
      move: (key, move) => inTurn(() => ledger.move(key, move)),
      accept: (entries, limit) => inTurn(() => ledger.accept(entries, limit)),
    });
  }
  return {
    ledger: writingInTurns(createSqliteLedger(files[0])),
    other: writingInTurns(createSqliteLedger(files[1])),
    async close() {
      for (const file of files) file.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describeStateMachine('a ledger on SQLite', openTwice);
describeRepeats('a ledger on SQLite', openTwice, 'for one window');

describeDamage('a ledger on SQLite', async () => {
  const file = openSqlite(':memory:');
  return {
    ledger: createSqliteLedger(file),
    damage: async (key, part) => damageRow(file, key, part),
    close: async () => file.close(),
  };
});

/** Every statement that the ledger prepares, with SQLite's query plan. */
function plansOfLedger(): readonly { readonly sql: string; readonly plan: readonly string[] }[] {
  const file = openSqlite(':memory:');
  const prepared: string[] = [];
  const prepare = file.database.prepare.bind(file.database);
  file.database.prepare = (sql) => {
    prepared.push(sql);
    return prepare(sql);
  };
  const ledger = createSqliteLedger(file);
  // A list of all accounts is put together from those that have a signal.
  file.database.exec(
    `INSERT INTO entries (account, signal_id, status, fingerprint, created_at_ms, updated_at_ms, steps)
       VALUES ('main', 'a', 'invalid', 'f', 1, 1, '[]')`,
  );
  const filters = [
    {},
    { status: 'unknown' },
    { account: 'main' },
    { status: 'unknown', account: 'main' },
    { status: 'sending' },
    { status: 'sending', account: 'main' },
  ] as const;
  for (const filter of filters)
    for (const oldestFirst of [false, true]) void ledger.list({ ...filter, oldestFirst, limit: 1 });
  const plans = prepared
    .filter((sql) => /\b(entries|pauses)\b/.test(sql))
    .map((sql) => ({
      sql: sql.replace(/\s+/g, ' '),
      plan: prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String(row['detail'])),
    }));
  file.close();
  return plans;
}

const cheap =
  /^(SEARCH |SCAN CONSTANT ROW$|SCALAR SUBQUERY |SCAN known$|CO-ROUTINE known$|SETUP$|RECURSIVE STEP$|CORRELATED SCALAR SUBQUERY )/;

describe('the cost of a statement', () => {
  const plans = plansOfLedger();

  test('does not grow with the ledger: no statement scans a table or sorts', () => {
    expect(plans.length).toBeGreaterThanOrEqual(25);
    const steps = plans.flatMap(({ sql, plan }) => plan.map((detail) => ({ sql, detail })));
    expect(steps.filter(({ detail }) => !cheap.test(detail))).toEqual([
      // The signals of a market that wait are sorted: they are few.
      { sql: expect.stringContaining("status = 'accepted'"), detail: 'USE TEMP B-TREE FOR ORDER BY' },
    ]);
  });

  test.each([
    [
      'SELECT * FROM entries WHERE account = ? AND (created_at_ms, seq) < (?, ?) ORDER BY created_at_ms DESC, seq DESC LIMIT ?',
      'SEARCH entries USING INDEX entries_by_account (account=? AND created_at_ms<?)',
    ],
    [
      "SELECT * FROM entries WHERE status = ? AND NOT status IN ('accepted', 'sending') AND account = ? AND (created_at_ms, seq) < (?, ?) ORDER BY created_at_ms DESC, seq DESC LIMIT ?",
      'SEARCH entries USING INDEX entries_ended_by_account (account=? AND status=? AND created_at_ms<?)',
    ],
    [
      "SELECT * FROM entries WHERE status = ? AND status IN ('accepted', 'sending') AND (created_at_ms, seq) < (?, ?) ORDER BY created_at_ms DESC, seq DESC LIMIT ?",
      'SEARCH entries USING INDEX entries_under_way (status=? AND created_at_ms<?)',
    ],
    [
      "SELECT * FROM entries WHERE status = ? AND status IN ('accepted', 'sending') AND +account = ? AND (created_at_ms, seq) < (?, ?) ORDER BY created_at_ms DESC, seq DESC LIMIT ?",
      'SEARCH entries USING INDEX entries_under_way (status=? AND created_at_ms<?)',
    ],
    [
      'SELECT * FROM entries WHERE account = ? AND (created_at_ms, seq) > (?, ?) ORDER BY created_at_ms, seq LIMIT ?',
      'SEARCH entries USING INDEX entries_by_account (account=? AND created_at_ms>?)',
    ],
    [
      "SELECT * FROM entries WHERE status = ? AND NOT status IN ('accepted', 'sending') AND account = ? AND (created_at_ms, seq) > (?, ?) ORDER BY created_at_ms, seq LIMIT ?",
      'SEARCH entries USING INDEX entries_ended_by_account (account=? AND status=? AND created_at_ms>?)',
    ],
    [
      "SELECT * FROM entries WHERE status = ? AND status IN ('accepted', 'sending') AND (created_at_ms, seq) > (?, ?) ORDER BY created_at_ms, seq LIMIT ?",
      'SEARCH entries USING INDEX entries_under_way (status=? AND created_at_ms>?)',
    ],
    [
      "SELECT * FROM entries WHERE status = ? AND status IN ('accepted', 'sending') AND +account = ? AND (created_at_ms, seq) > (?, ?) ORDER BY created_at_ms, seq LIMIT ?",
      'SEARCH entries USING INDEX entries_under_way (status=? AND created_at_ms>?)',
    ],
  ])('the list %s reads nothing but its index', (sql, detail) => {
    expect(plans.filter((candidate) => candidate.sql === sql).map(({ plan }) => plan)).toEqual([[detail]]);
  });

  test.each([
    [/WITH RECURSIVE known/, 'SEARCH entries USING COVERING INDEX entries_by_account (account>?)'],
    [/market = \? AND status = 'accepted'/, 'SEARCH entries USING INDEX entries_under_way (status=?)'],
    [/order_id = \?/, 'SEARCH entries USING INDEX entries_by_order (account=? AND order_id=?)'],
    [/look_due_at_ms >/, 'SEARCH entries USING INDEX looks_due (look_due_at_ms>?)'],
    [/^SELECT \* .* look_due_at_ms/, 'SEARCH entries USING INDEX looks_due (look_due_at_ms<?)'],
    [/^SELECT \* .* order_open/, 'SEARCH entries USING INDEX followed_orders (account=? AND market=?)'],
    [
      /^SELECT count.* accepted_at_ms/,
      'SEARCH entries USING INDEX entries_by_account (account=? AND created_at_ms>? AND created_at_ms<?)',
    ],
    [
      /^UPDATE entries SET status = 'sending'/,
      'SEARCH entries USING COVERING INDEX orders_by_account (account=? AND ordered_at_ms>? AND ordered_at_ms<?)',
    ],
    [/^UPDATE entries SET status = 'sending'/, 'SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)'],
    [/^UPDATE entries SET status = \?3/, 'SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)'],
  ])('%s uses its index', (sql, detail) => {
    expect(plans.find((candidate) => sql.test(candidate.sql))?.plan).toContain(detail);
  });
});

describe('a ledger on SQLite', () => {
  test('lists entries of the same millisecond with the latest first', async () => {
    const { ledger, close } = await openInMemory();
    for (const id of ['first', 'second', 'third']) await acceptOne(ledger, orderEntry(id), null);
    const pages = [await ledger.list({ limit: 2 })];
    pages.push(await ledger.list({ limit: 2, cursor: pages[0]?.next ?? '' }));
    expect(pages.flatMap(({ entries }) => entries.map(({ signalId }) => signalId))).toEqual([
      'third',
      'second',
      'first',
    ]);
    await close();
  });

  test('gives no cursor after a last page that is exactly full', async () => {
    const { ledger, close } = await openInMemory();
    for (const id of ['a', 'b']) await acceptOne(ledger, orderEntry(id), null);
    expect(await ledger.list({ limit: 2 })).toMatchObject({ entries: { length: 2 }, next: null });
    await close();
  });

  test('shows a write to another process as soon as it is acknowledged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    const [relay, tool] = [openSqlite(join(folder, 'relay.db')), openSqlite(join(folder, 'relay.db'))];
    const [writer, reader] = [createSqliteLedger(relay), createSqliteLedger(tool)];
    await acceptOne(writer, orderEntry('a'), null);
    await reader.writePause('main', { sinceMs: 5, reason: 'by hand', kind: 'everything' });
    expect(await reader.read({ account: 'main', signalId: 'a' })).toMatchObject({ status: 'accepted' });
    expect(await writer.readPause('main')).toEqual({ sinceMs: 5, reason: 'by hand', kind: 'everything' });
    relay.close();
    tool.close();
    rmSync(folder, { recursive: true });
  });

  test('throws when it can be neither written nor read', async () => {
    const file = openSqlite(':memory:');
    const ledger = createSqliteLedger(file);
    file.close();
    await expect(acceptOne(ledger, orderEntry('a'), null)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await expect(ledger.read({ account: 'main', signalId: 'a' })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });
});
