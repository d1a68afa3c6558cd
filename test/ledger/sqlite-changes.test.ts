import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteChanges, type SqliteChanges } from '../../lib/ledger/sqlite-changes.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { describeChanges, executionOf, placeOrder } from './changes-contract.ts';
import { orderEntry } from './ledger-contract.ts';

const key = { account: 'main', signalId: 'a' };

let file: SqliteFile;
let ledger: Ledger;
let changes: SqliteChanges;
beforeEach(() => {
  file = openSqlite(':memory:');
  ledger = createSqliteLedger(file);
  changes = createSqliteChanges(file);
});
afterEach(() => file.close());

describeChanges('the changes of a ledger on SQLite', async () => {
  const own = openSqlite(':memory:');
  const noted = createSqliteChanges(own);
  await noted.begin();
  return {
    ledger: createSqliteLedger(own),
    executions: createSqliteExecutions(own),
    addAlarm: async (alarm, facts, atMs) => noted.addAlarm(alarm, facts, atMs),
    addDay: noted.addDay,
    changes: async () => (await noted.list(0, 100)).map(({ change }) => change),
    close: async () => own.close(),
  };
});

describe('a ledger that notes its changes', () => {
  beforeEach(() => changes.begin());

  test('a write that changes nothing is no change', async () => {
    await placeOrder(ledger);
    await expect(
      ledger.move(key, { from: 'sending', step: { status: 'unknown', atMs: 40, note: 'x' } }),
    ).rejects.toMatchObject({ code: 'entry_conflict' });
    await ledger.accept([orderEntry('a')], null);
    expect(await changes.list(0, 10)).toHaveLength(1);
  });

  test('a place is never given twice, and what follows a place is what was not seen', async () => {
    await placeOrder(ledger);
    await changes.forget(changes.last());
    changes.addAlarm({ name: 'signals_waiting', message: 'm' }, { signals: 2 }, 80);

    expect((await changes.list(0, 10)).map(({ seq }) => seq)).toEqual([2]);
    expect(await changes.list(2, 10)).toEqual([]);
    expect((await changes.list(0, 10))[0]?.change).toEqual({
      kind: 'alarm',
      id: '80 1',
      account: null,
      atMs: 80,
      name: 'signals_waiting',
      message: 'm',
      facts: { signals: 2 },
    });
  });

  test('what was damaged in the store hides nothing that comes after it', async () => {
    await placeOrder(ledger);
    await createSqliteExecutions(file).record(key, executionOf('0'), []);
    file.database.exec("UPDATE ledger_changes SET after = '{' WHERE kind = 'execution'");
    file.database.exec("UPDATE entries SET steps = 'x'");
    changes.addAlarm({ name: 'signals_waiting', message: 'm' }, {}, 80);

    expect((await changes.list(0, 10)).map(({ change }) => change)).toMatchObject([
      { kind: 'outcome', step: { status: 'placed' } },
      null,
      { kind: 'alarm' },
    ]);
  });

  test('the day whose figures were noted last is known', async () => {
    expect(changes.toldDay('main')).toBeNull();
    await changes.addDay('main', '2026-11-24', ['1 signals'], 5);
    expect(changes.toldDay('main')).toBe('2026-11-24');
  });

  test('after its end nothing is noted, and what was is gone', async () => {
    await placeOrder(ledger);
    await changes.end();
    await ledger.writePause('main', { sinceMs: 70, reason: 'lunch', kind: 'entries' });
    expect(await changes.list(0, 10)).toEqual([]);
  });

  test('an older form of what notes them is replaced', async () => {
    file.database.exec(
      'DROP TRIGGER note_outcome; CREATE TRIGGER note_outcome AFTER DELETE ON entries BEGIN SELECT 1; END',
    );
    await changes.begin();
    await placeOrder(ledger);
    expect(await changes.list(0, 10)).toHaveLength(1);
  });
});

test('without a beginning nothing is noted', async () => {
  await placeOrder(ledger);
  expect(await changes.list(0, 10)).toEqual([]);
});
