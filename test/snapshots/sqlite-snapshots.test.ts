import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openSqlite } from '../../lib/base/sqlite.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createSqliteSnapshots } from '../../lib/snapshots/sqlite-snapshots.ts';
import { collect, describeSnapshots, noonMs, paymentAt, snapshotAt } from './snapshots-contract.ts';

describeSnapshots('snapshots on the disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'snapshots-'));
  let file = openSqlite(join(folder, 'relay.db'));
  return {
    store: createSqliteSnapshots(file),
    async reopen() {
      file.close();
      file = openSqlite(join(folder, 'relay.db'));
      return createSqliteSnapshots(file);
    },
    async close() {
      file.close();
      rmSync(folder, { recursive: true });
    },
  };
});

/** Every statement that the store prepares, with SQLite's query plan. */
function plansOfStore(): readonly { readonly sql: string; readonly plan: readonly string[] }[] {
  const file = openSqlite(':memory:');
  const prepared: string[] = [];
  const prepare = file.database.prepare.bind(file.database);
  file.database.prepare = (sql) => {
    prepared.push(sql);
    return prepare(sql);
  };
  createSqliteSnapshots(file);
  const plans = prepared
    .filter((sql) => /balance_snapshots|_fees|fee_versions|interest_/.test(sql))
    .map((sql) => ({
      sql: sql.replace(/\s+/g, ' '),
      plan: prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String(row['detail'])),
    }));
  file.close();
  return plans;
}

describe('the cost of a statement', () => {
  const plans = plansOfStore();

  test('does not grow with the size of a table: no statement scans or sorts', () => {
    expect(plans.length).toBeGreaterThanOrEqual(13);
    const steps = plans.flatMap(({ sql, plan }) => plan.map((detail) => ({ sql, detail })));
    expect(steps.filter(({ detail }) => !detail.startsWith('SEARCH '))).toEqual([]);
  });

  test.each([
    [/^SELECT \* FROM balance_snapshots .* DESC/, '(account=? AND slot_ms<?)'],
    [/^SELECT \* FROM balance_snapshots .* slot_ms > /, '(account=? AND slot_ms>? AND slot_ms<?)'],
    [/^SELECT \* FROM fee_versions .* ticker = /, '(account=? AND ticker=? AND from_ms>?)'],
    [/^SELECT \* FROM fee_versions .*\(ticker/, '(account=? AND (ticker,from_ms)>(?,?))'],
    [/^SELECT \* FROM interest_payments/, '(account=? AND (paid_at_ms,'],
  ])('%s uses its key', (sql, detail) => {
    const [plan = ''] = plans.find((candidate) => sql.test(candidate.sql))?.plan ?? [];
    expect(plan).toContain(detail);
  });
});

describe('snapshots on SQLite', () => {
  test('are stored in the file of the ledger', async () => {
    const file = openSqlite(':memory:');
    createSqliteLedger(file);
    const store = createSqliteSnapshots(file);
    expect(await store.balances.write('main', snapshotAt(noonMs))).toBe('stored');
    file.close();
  });

  test('store all payments of a call or none', async () => {
    const file = openSqlite(':memory:');
    const store = createSqliteSnapshots(file);
    file.database.exec(
      `CREATE TRIGGER broken BEFORE INSERT ON interest_payments WHEN NEW.nth = 3
       BEGIN SELECT RAISE(ABORT, 'no more'); END`,
    );
    const payments = [1, 2, 3].map((nth) => paymentAt(noonMs, { nth }));
    await expect(store.interest.write('main', payments)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await collect(store.interest.list('main', { fromMs: 0, untilMs: noonMs + 1 }))).toEqual([]);
    file.close();
  });

  test('may be written while they are listed', async () => {
    const file = openSqlite(':memory:');
    const store = createSqliteSnapshots(file);
    for (const slot of [1, 2, 3]) await store.balances.write('main', snapshotAt(slot));
    const slots: number[] = [];
    for await (const { slotMs } of store.balances.list('main', { fromMs: 0, untilMs: 100 })) {
      slots.push(slotMs);
      expect(await store.balances.write('main', snapshotAt(slotMs + 10))).toBe('stored');
    }
    expect(slots).toEqual([1, 2, 3]);
    file.close();
  });

  test('throw when they can be neither written nor read', async () => {
    const file = openSqlite(':memory:');
    const store = createSqliteSnapshots(file);
    file.close();
    const failure = { code: 'store_unavailable' };
    await expect(store.balances.write('main', snapshotAt(1))).rejects.toMatchObject(failure);
    await expect(store.balances.readAt('main', 1)).rejects.toMatchObject(failure);
    await expect(collect(store.fees.list('main'))).rejects.toMatchObject(failure);
    await expect(store.interest.readProgress('main')).rejects.toMatchObject(failure);
  });
});
