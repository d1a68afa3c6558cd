import { expect, test } from '@jest/globals';
import type { SqliteFile } from '../../lib/base/sqlite.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteDeadLetters } from '../../lib/queue/sqlite-dead-letters.ts';
import { prepareStatements } from '../../lib/queue/sqlite-line-statements.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';
import { openStore } from './open-store.ts';

/** SQLite's query plan of every statement that the call prepares: of those on entries, or on any table. */
function plansOf(call: (file: SqliteFile) => void, table = /\bentries\b/): readonly (readonly string[])[] {
  const { file } = openStore();
  const { database } = file;
  const prepare = database.prepare.bind(database);
  const prepared: string[] = [];
  database.prepare = (sql) => {
    prepared.push(sql);
    return prepare(sql);
  };
  call(file);
  const plans = prepared
    .filter((sql) => table.test(sql) && /^\s*(SELECT|UPDATE|DELETE|WITH)\b/.test(sql))
    .map((sql) => prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
    .map((rows) => rows.map((row) => String(row['detail'])));
  file.close();
  return plans;
}

/** The index holds the signals that wait, and no others. */
const waiting = 'SEARCH entries USING INDEX entries_under_way (status=?)';
const sorted = 'USE TEMP B-TREE FOR ORDER BY';
const byNumber = 'SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)';

test('the line reads the entries that wait, and never the others', () => {
  const plans = plansOf((file) => prepareStatements(file));
  const unfinished = [
    'CO-ROUTINE (subquery-2)',
    'COMPOUND QUERY',
    'LEFT-MOST SUBQUERY',
    waiting,
    'UNION ALL',
    'SEARCH entries USING INDEX looks_due (look_due_at_ms>?)',
    'SCAN (subquery-2)',
    sorted,
  ];
  expect(plans).toEqual([[waiting, sorted], unfinished, [byNumber], [byNumber], [byNumber]]);
});

test('dead letters are found among the entries that wait', () => {
  const plans = plansOf((file) => createSqliteDeadLetters(file));
  expect(plans).toEqual([[waiting, sorted], [waiting], [waiting]]);
});

const followed = 'SEARCH entries USING INDEX followed_orders (account=?)';

test('no store reads a whole table, and only what waits or is followed is sorted', () => {
  const plans = plansOf((file) => {
    createSqliteLedger(file);
    createSqliteExecutions(file);
    createSqliteAccountFacts(file);
    createSqliteSnapshots(file);
  }, /^(?!.*sqlite_schema)/);

  const lines = plans.flat();
  // Of the few accounts, each of which was one search.
  expect(lines.filter((line) => line.startsWith('SCAN'))).toEqual(['SCAN known', 'SCAN known']);
  expect(plans.filter((plan) => plan.some((line) => line.includes('TEMP B-TREE')))).toEqual([
    [waiting, sorted],
    [followed, sorted],
  ]);
  expect(lines.length).toBeGreaterThan(40);
});
