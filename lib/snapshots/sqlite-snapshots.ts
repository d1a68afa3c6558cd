import type { SQLOutputValue } from 'node:sqlite';
import { formatDecimal, parseDecimal } from '../base/decimal.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import {
  type BalanceSnapshot,
  type BalanceStore,
  type FeeStore,
  type FeeVersion,
  type InterestPayment,
  type InterestStore,
  noProgress,
  type SnapshotStore,
  toEpochs,
} from './snapshot-store.ts';
import { formatStored, parseCurrencyFees, parseHoldings, parseProgress } from './stored-text.ts';

/** One script per version. Amounts are text, and so exact. */
export const snapshotsMigrations: readonly string[] = [
  `CREATE TABLE balance_snapshots (
     account TEXT NOT NULL,
     slot_ms INTEGER NOT NULL,
     taken_at_ms INTEGER NOT NULL,
     main TEXT NOT NULL,
     collateral TEXT,
     PRIMARY KEY (account, slot_ms)
   ) STRICT;
   CREATE TABLE fee_versions (
     account TEXT NOT NULL,
     ticker TEXT NOT NULL,
     from_ms INTEGER NOT NULL,
     fees TEXT,
     PRIMARY KEY (account, ticker, from_ms)
   ) STRICT;
   CREATE TABLE current_fees (
     account TEXT NOT NULL,
     ticker TEXT NOT NULL,
     from_ms INTEGER NOT NULL,
     fees TEXT,
     PRIMARY KEY (account, ticker)
   ) STRICT;
   CREATE TABLE interest_payments (
     account TEXT NOT NULL,
     paid_at_ms INTEGER NOT NULL,
     plan_id TEXT NOT NULL,
     investment_id TEXT NOT NULL,
     ticker TEXT NOT NULL,
     amount TEXT NOT NULL,
     nth INTEGER NOT NULL,
     PRIMARY KEY (account, paid_at_ms, plan_id, investment_id, ticker, amount, nth)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE interest_imports (
     account TEXT PRIMARY KEY,
     version INTEGER NOT NULL,
     progress TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
];

/**
 * A list continues after the last row of a page, so that no
 * statement stays open while the caller reads slowly.
 */
const pageSize = 500;

/**
 * The snapshot store on SQLite, in the file of the ledger.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteSnapshots(file: SqliteFile): SnapshotStore {
  migrateTables(file, 'snapshots', snapshotsMigrations);
  return {
    balances: createBalanceStore(file),
    fees: createFeeStore(file),
    interest: createInterestStore(file),
  };
}

type Row = Readonly<Record<string, SQLOutputValue>>;

/** @param query reads the page after a row; null reads the first page */
async function* readRows(file: SqliteFile, query: (last: Row | null) => readonly Row[]): AsyncGenerator<Row> {
  let last: Row | null | undefined = null;
  while (last !== undefined) {
    const after: Row | null = last;
    const rows: readonly Row[] = file.read(() => query(after));
    yield* rows;
    last = rows.length < pageSize ? undefined : rows.at(-1);
  }
}

async function* mapRows<T>(rows: AsyncIterable<Row>, toValue: (row: Row) => T): AsyncGenerator<T> {
  for await (const row of rows) yield toValue(row);
}

function createBalanceStore(file: SqliteFile): BalanceStore {
  const insert = file.database.prepare(
    'INSERT INTO balance_snapshots VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const newest = file.database.prepare(
    'SELECT * FROM balance_snapshots WHERE account = ? AND slot_ms <= ? ORDER BY slot_ms DESC LIMIT 1',
  );
  const page = file.database.prepare(
    `SELECT * FROM balance_snapshots WHERE account = ? AND slot_ms > ? AND slot_ms < ?
     ORDER BY slot_ms LIMIT ${pageSize}`,
  );
  return {
    async write(account, { slotMs, takenAtMs, main, collateral }) {
      const held = [formatStored(main), collateral === null ? null : formatStored(collateral)] as const;
      const { changes } = await file.write(() => insert.run(account, slotMs, takenAtMs, ...held));
      return changes === 1 ? 'stored' : 'known';
    },
    async readAt(account, atMs) {
      const row = file.read(() => newest.get(account, atMs));
      return row === undefined ? null : snapshotOf(row);
    },
    list(account, { fromMs, untilMs }) {
      const query = (last: Row | null) => page.all(account, last?.['slot_ms'] ?? fromMs - 1, untilMs);
      return mapRows(readRows(file, query), snapshotOf);
    },
  };
}

function snapshotOf(row: Row): BalanceSnapshot {
  const collateral = row['collateral'];
  return {
    slotMs: Number(row['slot_ms']),
    takenAtMs: Number(row['taken_at_ms']),
    main: parseHoldings(String(row['main'])),
    collateral: collateral === null ? null : parseHoldings(String(collateral)),
  };
}

function createFeeStore(file: SqliteFile): FeeStore {
  const prepare = (sql: string) => file.database.prepare(sql);
  const current = prepare('SELECT * FROM current_fees WHERE account = ? ORDER BY ticker');
  const add = prepare('INSERT INTO current_fees VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const replace = prepare(
    'UPDATE current_fees SET from_ms = ?, fees = ? WHERE account = ? AND ticker = ? AND from_ms = ?',
  );
  const insert = prepare('INSERT INTO fee_versions VALUES (?, ?, ?, ?)');
  const page = prepare(
    `SELECT * FROM fee_versions WHERE account = ? AND (ticker, from_ms) > (?, ?)
     ORDER BY ticker, from_ms LIMIT ${pageSize}`,
  );
  const pageOfTicker = prepare(
    `SELECT * FROM fee_versions WHERE account = ? AND ticker = ? AND from_ms > ?
     ORDER BY from_ms LIMIT ${pageSize}`,
  );
  return {
    readCurrent: async (account) => file.read(() => current.all(account)).map(versionOf),
    append(account, known, { ticker, fromMs, fees }) {
      const text = fees === null ? null : formatStored(fees);
      return file.write(() => {
        const { changes } =
          known === null
            ? add.run(account, ticker, fromMs, text)
            : replace.run(fromMs, text, account, ticker, known.fromMs);
        if (changes === 0) return false;
        insert.run(account, ticker, fromMs, text);
        return true;
      });
    },
    list(account, ticker) {
      const query = (last: Row | null) => {
        const fromMs = last?.['from_ms'] ?? Number.MIN_SAFE_INTEGER;
        return ticker === undefined
          ? page.all(account, last?.['ticker'] ?? '', fromMs)
          : pageOfTicker.all(account, ticker, fromMs);
      };
      return toEpochs(mapRows(readRows(file, query), versionOf));
    },
  };
}

function versionOf(row: Row): FeeVersion {
  const fees = row['fees'];
  return {
    ticker: String(row['ticker']),
    fromMs: Number(row['from_ms']),
    fees: fees === null ? null : parseCurrencyFees(String(fees)),
  };
}

function createInterestStore(file: SqliteFile): InterestStore {
  const prepare = (sql: string) => file.database.prepare(sql);
  const insert = prepare('INSERT INTO interest_payments VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const page = prepare(
    `SELECT * FROM interest_payments
     WHERE account = ? AND (paid_at_ms, plan_id, investment_id, ticker, amount, nth) > (?, ?, ?, ?, ?, ?)
       AND paid_at_ms < ?
     ORDER BY paid_at_ms, plan_id, investment_id, ticker, amount, nth LIMIT ${pageSize}`,
  );
  const progress = prepare('SELECT version, progress FROM interest_imports WHERE account = ?');
  const begin = prepare('INSERT INTO interest_imports VALUES (?, 1, ?) ON CONFLICT DO NOTHING');
  const advance = prepare(
    'UPDATE interest_imports SET version = version + 1, progress = ? WHERE account = ? AND version = ?',
  );
  return {
    async write(account, payments) {
      const rows = payments.map((payment) => [account, ...rowOf(payment)] as const);
      await file.write(() => {
        for (const row of rows) insert.run(...row);
      });
    },
    list(account, { fromMs, untilMs }) {
      const first = [fromMs, '', '', '', '', 0] as const;
      const query = (last: Row | null) =>
        page.all(account, ...(last === null ? first : rowOf(paymentOf(last))), untilMs);
      return mapRows(readRows(file, query), paymentOf);
    },
    async readProgress(account) {
      const row = file.read(() => progress.get(account));
      return row === undefined ? noProgress : parseProgress(String(row['progress']), Number(row['version']));
    },
    async writeProgress(account, { version, ...rest }) {
      const text = formatStored(rest);
      const { changes } = await file.write(() =>
        version === 0 ? begin.run(account, text) : advance.run(text, account, version),
      );
      return changes === 1;
    },
  };
}

type PaymentRow = readonly [number, string, string, string, string, number];

function rowOf({ paidAtMs, planId, investmentId, ticker, amount, nth }: InterestPayment): PaymentRow {
  return [paidAtMs, planId, investmentId, ticker, formatDecimal(amount), nth];
}

function paymentOf(row: Row): InterestPayment {
  return {
    planId: String(row['plan_id']),
    investmentId: String(row['investment_id']),
    ticker: String(row['ticker']),
    amount: parseDecimal(String(row['amount'])),
    paidAtMs: Number(row['paid_at_ms']),
    nth: Number(row['nth']),
  };
}
