import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { orderEntry } from '../ledger/ledger-contract.ts';
import { drain, idsOf, keyOf, type OpenStore, openStore, takeAll } from './open-store.ts';

let store: OpenStore;
beforeEach(() => {
  store = openStore();
});
afterEach(() => store.file.close());

const alert = ['a', 'b', 'c'].map((id) => orderEntry(id));

function storedIds(): readonly unknown[] {
  const rows = store.file.database.prepare('SELECT signal_id FROM entries ORDER BY seq').all();
  return rows.map((row) => row['signal_id']);
}

describe('an alert of three signals', () => {
  test('is one write, and waits in its order', async () => {
    const stored = store.ledger.accept(alert, null);

    // In the transaction that is still open.
    expect(storedIds()).toEqual(['a', 'b', 'c']);
    store.file.database.exec('ROLLBACK');
    await expect(stored).rejects.toMatchObject({ code: 'store_unavailable' });
    expect([storedIds(), store.line.length]).toEqual([[], 0]);
    await store.ledger.accept(alert, null);
    expect(await drain(store)).toEqual(['a', 'b', 'c']);
  });

  test('adds nothing when it comes again, before or after it is executed', async () => {
    await store.ledger.accept(alert, null);
    await store.ledger.accept(alert, null);
    expect(store.line.length).toBe(3);
    expect(await drain(store)).toEqual(['a', 'b', 'c']);

    await store.ledger.accept(alert, null);

    expect(storedIds()).toEqual(['a', 'b', 'c']);
    expect(takeAll(store)).toEqual([]);
  });

  test('of which one is already stored adds the others only', async () => {
    await store.ledger.accept([orderEntry('b')], null);
    await drain(store);
    await store.ledger.accept(alert, null);
    expect(await drain(store)).toEqual(['a', 'c']);
  });

  test.each([
    ['a share of signals that is used up', alert, { maxPerMinute: 2 }, { result: 'over_limit', count: 1 }],
    [
      'an id of another alert',
      [orderEntry('x'), orderEntry('z', { fingerprint: 'other' }), orderEntry('y')],
      null,
      { result: 'id_taken', by: { signalId: 'z', fingerprint: 'f1' } },
    ],
  ] as const)(
    'stores and delivers nothing when it is refused because of %s',
    async (_, entries, limit, is) => {
      await store.ledger.accept([orderEntry('z')], { maxPerMinute: 9 });
      await drain(store);

      expect(await store.ledger.accept(entries, limit)).toMatchObject(is);

      expect([storedIds(), store.line.length]).toEqual([['z'], 0]);
      expect(store.line.find(keyOf('x'))).toBeNull();
    },
  );

  test.each([
    ['one of them cannot be written', 'BEFORE', "SELECT RAISE(ABORT, 'no room')"],
    // By a constraint that is checked only at the commit.
    ['the transaction cannot be committed', 'AFTER', 'INSERT INTO debts VALUES (1)'],
  ])('leaves nothing when %s, and is stored completely when it comes again', async (_, when, doing) => {
    store.file.database.exec(
      `CREATE TABLE none (id INTEGER PRIMARY KEY);
       CREATE TABLE debts (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
       CREATE TRIGGER refuse ${when} INSERT ON entries WHEN NEW.signal_id = 'c' BEGIN ${doing}; END;`,
    );

    await expect(store.ledger.accept(alert, null)).rejects.toMatchObject({ code: 'store_unavailable' });

    expect([storedIds(), store.line.length]).toEqual([[], 0]);
    store.file.database.exec('DROP TRIGGER refuse');
    await store.ledger.accept(alert, null);
    expect(await drain(store)).toEqual(['a', 'b', 'c']);
  });

  test('that is refused does not undo the alerts that share its flush', async () => {
    const results = await Promise.all([
      store.ledger.accept([orderEntry('first')], { maxPerMinute: 3 }),
      store.ledger.accept(alert, { maxPerMinute: 3 }),
      store.ledger.accept([orderEntry('last')], null),
    ]);

    expect(results.map(({ result }) => result)).toEqual(['stored', 'over_limit', 'stored']);
    expect(idsOf(takeAll(store))).toEqual(['first']);
    expect(storedIds()).toEqual(['first', 'last']);
  });
});
