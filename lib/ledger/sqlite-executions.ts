import { parseOwnJson } from '../base/json.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import { type Execution, type Fill, isOwnOrderOpen } from '../model/execution.ts';
import type { Entry, EntryKey } from './entry.ts';
import { type Executions, type FillPage, type FillQuery, refuseCursor } from './executions.ts';
import { type EntryRow, entriesOf } from './sqlite-entries.ts';
import { migrateLedgerTables } from './sqlite-migrations.ts';
import { openStateOf } from './sqlite-open-state.ts';

export const executionsMigrations: readonly string[] = [
  `CREATE TABLE fills (
     account TEXT NOT NULL,
     market TEXT NOT NULL,
     deal_id INTEGER NOT NULL,
     at_ms INTEGER NOT NULL,
     signal_id TEXT NOT NULL,
     fill TEXT NOT NULL,
     PRIMARY KEY (account, market, deal_id)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX fills_by_time ON fills (account, at_ms, market, deal_id);`,
  // A deal between two orders of one account is a fill of each.
  `CREATE TABLE fills_of_orders (
     account TEXT NOT NULL,
     market TEXT NOT NULL,
     deal_id INTEGER NOT NULL,
     order_id INTEGER NOT NULL,
     at_ms INTEGER NOT NULL,
     signal_id TEXT NOT NULL,
     fill TEXT NOT NULL,
     PRIMARY KEY (account, market, deal_id, order_id)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO fills_of_orders
     SELECT account, market, deal_id, json_extract(fill, '$.orderId'), at_ms, signal_id, fill FROM fills;
   DROP TABLE fills;
   ALTER TABLE fills_of_orders RENAME TO fills;
   CREATE INDEX fills_by_time ON fills (account, at_ms, market, deal_id, order_id);`,
];

const sql = {
  /** Names its index: SQLite would rather read the whole account in the order of time than sort the few that are followed. */
  followed: `SELECT * FROM entries INDEXED BY followed_orders WHERE account = ? AND order_open > 0 AND status = 'placed'
    ORDER BY created_at_ms, seq LIMIT ?`,
  followedMarkets: `SELECT DISTINCT account, market FROM entries INDEXED BY followed_orders
    WHERE order_open > 0 AND status = 'placed' ORDER BY account, market`,
  record: `UPDATE entries SET execution = ?3, order_open = CASE WHEN ?4 = 1 THEN order_open ELSE ?4 END
    WHERE account = ?1 AND signal_id = ?2 AND status = 'placed'
      AND coalesce(json_extract(execution, '$.revision'), 0) = ?5`,
  addFill: `INSERT INTO fills (account, market, deal_id, order_id, at_ms, signal_id, fill) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (account, market, deal_id, order_id) DO UPDATE SET signal_id = excluded.signal_id, fill = excluded.fill
      WHERE fills.signal_id = '' AND excluded.signal_id <> ''`,
  listFills: `SELECT at_ms, market, deal_id, order_id, fill FROM fills
    WHERE account = ?1 AND (at_ms, market, deal_id, order_id) > (?2, ?3, ?4, ?5) AND at_ms < ?6
    ORDER BY at_ms, market, deal_id, order_id LIMIT ?7`,
} as const;

interface FillRow {
  readonly at_ms: number;
  readonly market: string;
  readonly deal_id: number;
  readonly order_id: number;
  readonly fill: string;
}

/**
 * The markets of the orders that are followed, by account: also of accounts that are configured no longer.
 *
 * @throws RelayError `store_unavailable`
 */
export function listFollowedMarkets(file: SqliteFile): ReadonlyMap<string, readonly string[]> {
  const rows = file.read(() => file.database.prepare(sql.followedMarkets).all());
  const found = new Map<string, string[]>();
  for (const { account, market } of rows as unknown as readonly { account: string; market: string }[])
    found.set(account, [...(found.get(account) ?? []), market]);
  return found;
}

/**
 * Keeps fills in a table beside the ledger's. What became of an entry and its fills are one transaction.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteExecutions(file: SqliteFile): Executions {
  migrateLedgerTables(file);
  migrateTables(file, 'executions', executionsMigrations);
  const { database } = file;
  const followed = database.prepare(sql.followed);
  const record = database.prepare(sql.record);
  const addFill = database.prepare(sql.addFill);
  const listFills = database.prepare(sql.listFills);
  return {
    async followed(account: string, limit: number): Promise<readonly Entry[]> {
      return entriesOf(file.read(() => followed.all(account, limit)) as unknown as readonly EntryRow[]);
    },
    record({ account, signalId }: EntryKey, execution: Execution, fills: readonly Fill[]): Promise<boolean> {
      const { revision, isFollowed } = execution;
      const open = openStateOf(isOwnOrderOpen(execution), isFollowed);
      const text = JSON.stringify(execution);
      return file.write(() => {
        for (const fill of fills) {
          const { market, dealId, orderId, atMs } = fill;
          addFill.run(account, market, dealId, orderId, atMs, signalId, JSON.stringify(fill));
        }
        return record.run(account, signalId, text, open, revision - 1).changes === 1;
      });
    },
    async recordOthers(fills: readonly Fill[]): Promise<void> {
      if (fills.length === 0) return;
      await file.write(() => {
        for (const fill of fills) {
          const { account, market, dealId, orderId, atMs, signalId } = fill;
          addFill.run(account, market, dealId, orderId, atMs, signalId, JSON.stringify(fill));
        }
      });
    },
    keptFromMs: () => null,
    async listFills({ account, fromMs, untilMs, limit, cursor }: FillQuery): Promise<FillPage> {
      const start = cursor === undefined ? [fromMs, '', -1, -1] : parseCursor(cursor);
      // One row more than the limit shows whether there is another page.
      const rows = file.read(() =>
        listFills.all(account, ...start, untilMs, limit + 1),
      ) as unknown as readonly FillRow[];
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        fills: page.map(({ fill }) => parseOwnJson<Fill>(fill)),
        next: rows.length > limit && last !== undefined ? formatCursor(last) : null,
      };
    },
  };
}

function formatCursor({ at_ms, market, deal_id, order_id }: FillRow): string {
  return Buffer.from(JSON.stringify([at_ms, market, deal_id, order_id])).toString('base64url');
}

function parseCursor(cursor: string): readonly [number, string, number, number] {
  const text = Buffer.from(cursor, 'base64url').toString();
  const match = /^\[(\d{1,15}),"(\w+)",(\d{1,15}),(\d{1,15})\]$/.exec(text);
  if (match === null) return refuseCursor(cursor);
  return [Number(match[1]), String(match[2]), Number(match[3]), Number(match[4])];
}
