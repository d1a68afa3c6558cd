import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteChanges, type SqliteChanges } from '../../lib/ledger/sqlite-changes.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Execution } from '../../lib/model/execution.ts';
import { orderEntry } from './ledger-contract.ts';

const key = { account: 'main', signalId: 'a' };
const order = { role: 'order', orderId: 7, endedAtMs: null, filledNotional: '0', fees: {} } as const;
const execution = (filled: string): Execution => ({
  revision: filled === '0' ? 1 : 2,
  readAtMs: 50,
  orders: [{ ...order, status: 'open', filled }],
  isFollowed: true,
});

let file: SqliteFile;
let ledger: Ledger;
let changes: SqliteChanges;
beforeEach(() => {
  file = openSqlite(':memory:');
  ledger = createSqliteLedger(file);
  changes = createSqliteChanges(file);
});
afterEach(() => file.close());

async function place(): Promise<void> {
  await ledger.accept([orderEntry('a')], null);
  await ledger.start(key, { status: 'sending', atMs: 20, note: 'sending' }, null);
  await ledger.move(key, {
    from: 'sending',
    step: { status: 'placed', atMs: 30, note: 'order 7' },
    orderId: 7,
  });
}

describe('a ledger that notes its changes', () => {
  beforeEach(() => changes.begin());

  test('notes outcomes, executions and pauses in the order of their writes, and nothing on its way', async () => {
    await place();
    const executions = createSqliteExecutions(file);
    await executions.record(key, execution('0'), []);
    await executions.record(key, execution('0.5'), []);
    await ledger.refuse({
      ...key,
      signalId: 'b',
      fingerprint: 'f',
      step: { status: 'invalid', atMs: 60, note: 'no' },
    });
    await ledger.writePause('main', { sinceMs: 70, reason: 'lunch', kind: 'entries' });
    await ledger.writePause('main', null);

    expect(changes.list(0, 10).map(({ change }) => change)).toMatchObject([
      { kind: 'outcome', account: 'main', step: { status: 'placed', note: 'order 7' }, entry: key },
      { kind: 'execution', before: null, entry: { execution: execution('0') } },
      { kind: 'execution', before: execution('0'), entry: { execution: execution('0.5') }, atMs: 50 },
      { kind: 'outcome', entry: { signalId: 'b' }, step: { note: 'no' } },
      { kind: 'pause', pause: { sinceMs: 70, reason: 'lunch', kind: 'entries' } },
      { kind: 'pause', pause: null },
    ]);
  });

  test('a write that changes nothing is no change', async () => {
    await place();
    await expect(
      ledger.move(key, { from: 'sending', step: { status: 'unknown', atMs: 40, note: 'x' } }),
    ).rejects.toMatchObject({ code: 'entry_conflict' });
    await ledger.accept([orderEntry('a')], null);
    expect(changes.list(0, 10)).toHaveLength(1);
  });

  test('a place is never given twice, and what follows a place is what was not seen', async () => {
    await place();
    await changes.forget(changes.last());
    changes.addAlarm({ name: 'signals_waiting', message: 'm' }, { signals: 2 }, 80);

    expect(changes.list(0, 10).map(({ seq }) => seq)).toEqual([2]);
    expect(changes.list(2, 10)).toEqual([]);
    expect(changes.list(0, 10)[0]?.change).toEqual({
      kind: 'alarm',
      id: '2',
      account: null,
      atMs: 80,
      name: 'signals_waiting',
      message: 'm',
      facts: { signals: 2 },
    });
  });

  test('what was damaged in the store hides nothing that comes after it', async () => {
    await place();
    await createSqliteExecutions(file).record(key, execution('0'), []);
    file.database.exec("UPDATE ledger_changes SET after = '{' WHERE kind = 'execution'");
    file.database.exec("UPDATE entries SET steps = 'x'");
    changes.addAlarm({ name: 'signals_waiting', message: 'm' }, {}, 80);

    expect(changes.list(0, 10).map(({ change }) => change)).toMatchObject([
      { kind: 'outcome', step: { status: 'placed' } },
      null,
      { kind: 'alarm' },
    ]);
  });

  test('the day is noted with its figures', async () => {
    expect(changes.toldDay('main')).toBeNull();
    await changes.addDay('main', '2026-11-24', ['1 signals'], 5);
    expect(changes.toldDay('main')).toBe('2026-11-24');
    expect(changes.list(0, 10)[0]?.change).toMatchObject({
      kind: 'day',
      account: 'main',
      lines: ['1 signals'],
    });
  });

  test('after its end nothing is noted, and what was is gone', async () => {
    await place();
    await changes.end();
    await ledger.writePause('main', { sinceMs: 70, reason: 'lunch', kind: 'entries' });
    expect(changes.list(0, 10)).toEqual([]);
  });

  test('an older form of what notes them is replaced', async () => {
    file.database.exec(
      'DROP TRIGGER note_outcome; CREATE TRIGGER note_outcome AFTER DELETE ON entries BEGIN SELECT 1; END',
    );
    await changes.begin();
    await place();
    expect(changes.list(0, 10)).toHaveLength(1);
  });
});

test('without a beginning nothing is noted', async () => {
  await place();
  expect(changes.list(0, 10)).toEqual([]);
});
