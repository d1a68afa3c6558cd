import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteQueue, type SqliteQueue } from '../../lib/queue/sqlite-queue.ts';
import { messagesOf } from '../../lib/relay/message-of.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { override } from '../support/override.ts';
import { idsOf, message, receiptsOf } from './queue-contract.ts';

let file: SqliteFile;
let queue: SqliteQueue;
let ledger: Ledger;
let writeCount: number;

beforeEach(() => {
  file = openSqlite(':memory:');
  writeCount = 0;
  const counted = override(file, {
    write: (operation) => {
      writeCount += 1;
      return file.write(operation);
    },
  });
  queue = createSqliteQueue(counted, { clock: createManualClock(0), maxReceives: 5 });
  ledger = createSqliteLedger(counted, (entries) => queue.stage(messagesOf(entries)));
});
afterEach(() => file.close());

const alert = ['a', 'b', 'c'].map((id) => orderEntry(id));

function idsIn(table: 'entries' | 'messages'): readonly unknown[] {
  const id = table === 'entries' ? 'signal_id' : "json_extract(body, '$.signalId')";
  const order = table === 'entries' ? 'seq' : 'position';
  const rows = file.database.prepare(`SELECT ${id} AS id FROM ${table} ORDER BY ${order}`).all();
  return rows.map((row) => row['id']);
}

describe('an alert of three signals', () => {
  test('becomes three entries and three messages in its order, in one write', async () => {
    await ledger.accept(alert, null);

    expect([idsIn('entries'), idsIn('messages')]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    expect(idsOf(await queue.receive(10))).toEqual(['a', 'b', 'c']);
    expect(writeCount).toBe(1);
  });

  test('adds nothing when it comes again, before or after it is executed', async () => {
    await ledger.accept(alert, null);
    await ledger.accept(alert, null);
    expect(idsIn('messages')).toEqual(['a', 'b', 'c']);

    await queue.remove(receiptsOf(await queue.receive(10)));
    await ledger.accept(alert, null);

    expect([idsIn('entries'), idsIn('messages')]).toEqual([['a', 'b', 'c'], []]);
    expect(await queue.receive(10)).toEqual([]);
  });

  test('of which one is already stored adds messages of the others only', async () => {
    await ledger.accept([orderEntry('b')], null);
    await queue.remove(receiptsOf(await queue.receive(10)));
    await ledger.accept(alert, null);
    expect(idsOf(await queue.receive(10))).toEqual(['a', 'c']);
  });

  test.each([
    ['a share of signals that is used up', alert, { maxPerMinute: 2 }],
    ['an id of another alert', [orderEntry('x'), orderEntry('z', { fingerprint: 'other' })], null],
  ] as const)('puts nothing into the queue when it is refused because of %s', async (_, entries, limit) => {
    await ledger.accept([orderEntry('z')], null);
    await queue.remove(receiptsOf(await queue.receive(10)));

    const { result } = await ledger.accept(entries, limit);

    expect(result).not.toBe('stored');
    expect([idsIn('entries'), idsIn('messages')]).toEqual([['z'], []]);
    expect(await queue.receive(10)).toEqual([]);
  });

  test.each([
    ['a message cannot be written', 'BEFORE', "SELECT RAISE(ABORT, 'no room')"],
    // By a constraint that is checked only at the commit.
    ['the transaction cannot be committed', 'AFTER', 'INSERT INTO debts VALUES (1)'],
  ])(
    'leaves neither entry nor message when %s, and is stored completely when it comes again',
    async (...row) => {
      const [, when, doing] = row;
      file.database.exec(
        `CREATE TABLE none (id INTEGER PRIMARY KEY);
       CREATE TABLE debts (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
       CREATE TRIGGER refuse ${when} INSERT ON messages WHEN NEW.body LIKE '%"c"%' BEGIN ${doing}; END;`,
      );

      await expect(ledger.accept(alert, null)).rejects.toMatchObject({ code: 'store_unavailable' });

      expect([idsIn('entries'), idsIn('messages')]).toEqual([[], []]);
      expect(await queue.receive(10)).toEqual([]);
      file.database.exec('DROP TRIGGER refuse');
      await ledger.accept(alert, null);
      expect(idsOf(await queue.receive(10))).toEqual(['a', 'b', 'c']);
    },
  );

  test('is delivered once, and the enqueue that follows writes nothing', async () => {
    await ledger.accept(alert, null);
    writeCount = 0;

    for (const id of ['a', 'b', 'c']) await queue.enqueue(message(id));

    expect(writeCount).toBe(0);
    const deliveries = await queue.receive(10);
    expect(idsOf(deliveries)).toEqual(['a', 'b', 'c']);
    await queue.enqueue(message('a'));
    expect(writeCount).toBe(0);
    await queue.remove(receiptsOf(deliveries));
    expect(await queue.receive(10)).toEqual([]);
  });
});
