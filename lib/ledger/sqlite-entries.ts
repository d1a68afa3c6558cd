import type { StatementSync } from 'node:sqlite';
import { parseOwnJson } from '../base/json.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { Execution } from '../model/execution.ts';
import { createDamage, createDamagedEntry, readStatus } from './damaged-entry.ts';
import type { Entry, Step } from './entry.ts';
import type { EntryQuery } from './ledger.ts';
import { readLookup, readSignal, readSteps } from './stored-entry.ts';

const columns = `account, signal_id, status, signal, market, client_order_id, fingerprint,
  created_at_ms, updated_at_ms, steps, accepted_at_ms, reduces`;
const values = '?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11';

const ordersWithin = (sinceMs: string, untilMs: string) =>
  `SELECT count(*) AS n FROM entries
    WHERE account = ?1 AND ordered_at_ms > ${sinceMs} AND ordered_at_ms <= ${untilMs}`;

/** The condition of the partial index of signals that are not carried out yet. */
export const underWay = "status IN ('accepted', 'sending')";

/** The steps with one more, `step`, at their end. */
const appended = (step: string) => `substr(steps, 1, length(steps) - 1) || ',' || ${step} || ']'`;

/**
 * The statement that starts an order also counts the orders,
 * so that two orders cannot take the last free place.
 *
 * A row is found by its number. Its id is compared, too: if the write that stored a signal is lost, the next signal gets
 * the same number.
 */
const sql = {
  insert: `INSERT INTO entries (${columns}) VALUES (${values}) ON CONFLICT (account, signal_id) DO NOTHING`,
  numberOf: 'SELECT seq FROM entries WHERE account = ? AND signal_id = ?',
  start: `UPDATE entries SET status = 'sending', updated_at_ms = ?3,
      ordered_at_ms = iif(client_order_id IS NULL OR ?7 IS NULL, NULL, ?3),
      order_open = client_order_id IS NOT NULL, steps = ${appended('?4')}
    WHERE seq = ?2 AND account = ?1 AND signal_id = ?8 AND status = 'accepted'
      AND (?7 IS NULL OR (${ordersWithin('?5', '?6')}) < ?7)`,
  /** Damaged steps stay as they are; the status has the outcome all the same. */
  move: `UPDATE entries SET status = ?3, updated_at_ms = ?4,
      steps = iif(substr(steps, -2) = '}]', ${appended('?5')}, steps),
      order_id = coalesce(?6, order_id), order_open = coalesce(?7, order_open),
      look = coalesce(?8, look), look_due_at_ms = iif(?8 IS NULL, NULL, ?4)
    WHERE seq = ?1 AND account = ?9 AND signal_id = ?10 AND status = ?2`,
  closeOrder: `UPDATE entries SET order_open = iif(status = 'placed', 2, 0)
    WHERE account = ? AND signal_id = ? AND order_open = 1`,
  read: 'SELECT * FROM entries WHERE account = ? AND signal_id = ?',
  /** From the prefix to the last text that begins with it: 1114111 is the last character of Unicode. */
  findByPrefix: `SELECT * FROM entries
    WHERE account = ?1 AND signal_id >= ?2 AND signal_id < ?2 || char(1114111)
    ORDER BY signal_id LIMIT ?3`,
  countSignals: `SELECT count(*) AS n FROM entries
    WHERE account = ?1 AND created_at_ms > ?2 AND created_at_ms <= ?3 AND accepted_at_ms IS NOT NULL
      AND reduces IS ?4`,
  countOrders: ordersWithin('?2', '?3'),
  dueLookups: 'SELECT * FROM entries WHERE look_due_at_ms <= ? ORDER BY look_due_at_ms, seq LIMIT ?',
  lookupsAhead: `SELECT * FROM entries WHERE look_due_at_ms > ?1 AND (look_due_at_ms > ?2 OR updated_at_ms > ?3)
    ORDER BY look_due_at_ms, seq LIMIT ?4`,
  postpone: `UPDATE entries SET look = ?4, look_due_at_ms = ?5
    WHERE account = ?1 AND signal_id = ?2 AND look_due_at_ms = ?3`,
  waiting: `SELECT * FROM entries WHERE +account = ? AND market = ? AND status = 'accepted' AND ${underWay}
    ORDER BY +seq LIMIT ?`,
  waitingByNumber: `SELECT * FROM entries
    WHERE seq = ? AND account = ? AND market = ? AND status = 'accepted'`,
  /** Steps from one account to the next in the index by account. */
  accounts: `WITH RECURSIVE known (account) AS (
      SELECT min(account) FROM entries
      UNION ALL
      SELECT (SELECT min(account) FROM entries WHERE entries.account > known.account) FROM known
        WHERE known.account IS NOT NULL)
    SELECT account FROM known WHERE account IS NOT NULL`,
  /** With `order_open > 0`, as the index has it: without those words SQLite would not use it. */
  openOrders: `SELECT * FROM entries WHERE account = ? AND market = ? AND order_open > 0 AND order_open = 1
    ORDER BY created_at_ms DESC, seq DESC LIMIT ?`,
  findOrder:
    'SELECT * FROM entries WHERE account = ? AND order_id = ? AND market = ? ORDER BY seq DESC LIMIT 1',
  readPause: 'SELECT since_ms, reason, kind FROM pauses WHERE account = ?',
  pause: 'INSERT OR REPLACE INTO pauses (account, since_ms, reason, kind) VALUES (?, ?, ?, ?)',
  pauseRunning: 'INSERT OR IGNORE INTO pauses (account, since_ms, reason, kind) VALUES (?, ?, ?, ?)',
  resume: 'DELETE FROM pauses WHERE account = ?',
  findArrival: 'SELECT at_ms, signal_ids FROM arrivals WHERE account = ? AND fingerprint = ?',
  keepMessage: 'INSERT INTO received_messages VALUES (?, ?, ?)',
  readMessage: `SELECT text, omitted_bytes FROM received_messages
    WHERE seq = (SELECT seq FROM entries WHERE account = ? AND signal_id = ?)`,
  noteArrival: 'INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?)',
} as const;

/** The statements above, prepared. */
export type Statements = Readonly<Record<keyof typeof sql, StatementSync>>;

export function prepareLedger({ database }: SqliteFile): Statements {
  const prepared = Object.entries(sql).map(([name, text]) => [name, database.prepare(text)]);
  return Object.fromEntries(prepared) as Statements;
}

/** A query of one account, or of all signals with one of the few statuses that are indexed for all accounts together. */
export type ListQuery = Pick<EntryQuery, 'status' | 'account' | 'oldestFirst'>;

export function isUnderWay(status: EntryQuery['status']): boolean {
  return status === 'accepted' || status === 'sending';
}

/**
 * The statement that lists a page of a query. Its parameters are `status` and `account`, if the query has
 * them, then the position at which the previous page ended (`startOf`), then the number of rows.
 */
export function listStatement({ status, account, oldestFirst = false }: ListQuery): string {
  const conditions = [
    // The second term names the partial index that holds the status.
    ...(status === undefined ? [] : ['status = ?', isUnderWay(status) ? underWay : `NOT ${underWay}`]),
    // The sign keeps SQLite from reading the whole account: few signals are under way.
    ...(account === undefined ? [] : [isUnderWay(status) ? '+account = ?' : 'account = ?']),
    `(created_at_ms, seq) ${oldestFirst ? '>' : '<'} (?, ?)`,
  ];
  const direction = oldestFirst ? '' : ' DESC';
  return `SELECT * FROM entries WHERE ${conditions.join(' AND ')}
    ORDER BY created_at_ms${direction}, seq${direction} LIMIT ?`;
}

/** A row of `SELECT *`; because the table is STRICT, its columns hold these types only. */
export interface EntryRow {
  readonly seq: number;
  readonly account: string;
  readonly signal_id: string;
  readonly status: string;
  readonly signal: string | null;
  readonly client_order_id: string | null;
  readonly fingerprint: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly steps: string;
  readonly order_id: number | null;
  readonly order_open: number;
  readonly look: string | null;
  readonly execution: string | null;
}

type Bound = string | number | null;

/** What a signal counts against; null: no limit. */
export type CountedAs = 'opening' | 'reduction' | null;

/** The value of the column `reduces`. An older release stored null, and counted every signal as one that may open. */
export function reducesOf(counted: CountedAs): 1 | null {
  return counted === 'reduction' ? 1 : null;
}

/** The values of a new row, in the order of the statement `insert`. */
export function entryRowOf(entry: Entry, counted: CountedAs): readonly Bound[] {
  return [
    entry.account,
    entry.signalId,
    entry.status,
    entry.signal === null ? null : JSON.stringify(entry.signal),
    entry.signal?.market ?? null,
    entry.clientOrderId,
    entry.fingerprint,
    entry.createdAtMs,
    JSON.stringify(entry.steps),
    counted === null ? null : entry.createdAtMs,
    reducesOf(counted),
  ];
}

/** @throws RelayError `entry_damaged` when one of its texts is not JSON or its status is invalid */
export function entryOf(row: EntryRow): Entry {
  try {
    return readRow(row);
  } catch (error) {
    throw createDamage(readColumns(row), error);
  }
}

/** All entries of a page, with a substitute for each damaged one. */
export function entriesOf(rows: readonly EntryRow[]): readonly Entry[] {
  return rows.map(entryOrDamaged);
}

/** The entry, or a substitute if it is damaged. */
export function entryOrDamaged(row: EntryRow): Entry {
  try {
    return readRow(row);
  } catch {
    return createDamagedEntry({ ...readColumns(row), status: row.status });
  }
}

function readRow(row: EntryRow): Entry {
  return {
    ...readColumns(row),
    status: readStatus(row.status),
    signal: row.signal === null ? null : readSignal(row.signal),
    steps: readSteps(parseOwnJson<Step[]>(row.steps)),
    lookup: row.look === null ? null : readLookup(row.look),
    execution: row.execution === null ? null : parseOwnJson<Execution>(row.execution),
  };
}

/** The columns that cannot be damaged, because the table is STRICT. */
function readColumns(row: EntryRow) {
  return {
    account: row.account,
    signalId: row.signal_id,
    clientOrderId: row.client_order_id,
    fingerprint: row.fingerprint,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    orderId: row.order_id,
    orderOpen: row.order_open === 1,
  };
}

/** A position in the list: the last entry of the previous page. */
export interface Place {
  readonly createdAtMs: number;
  readonly seq: number;
}

const oldest: Place = { createdAtMs: -1, seq: -1 };
const newest: Place = { createdAtMs: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };

export function formatCursor({ created_at_ms, seq }: EntryRow): string {
  return Buffer.from(JSON.stringify([created_at_ms, seq])).toString('base64url');
}

/**
 * The position after which a page begins.
 *
 * @throws RangeError when the text is not a cursor
 */
export function startOf({ cursor, startMs, oldestFirst = false }: EntryQuery): Place {
  if (cursor === undefined && startMs !== undefined) return { createdAtMs: startMs, seq: -1 };
  if (cursor === undefined) return oldestFirst ? oldest : newest;
  const match = /^\[(\d{1,15}),(\d{1,15})\]$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (match === null)
    throw new RangeError(
      `"${cursor.slice(0, 64)}" is not a cursor of this ledger: start from the first page`,
    );
  return { createdAtMs: Number(match[1]), seq: Number(match[2]) };
}
