import type { SqliteFile } from '../base/sqlite.ts';
import { underWay } from '../ledger/sqlite-entries.ts';
import type { SignalMessage } from './queue.ts';

/** A row of the statement `waiting`. */
export interface WaitingRow extends SignalMessage {
  readonly seq: number;
  readonly isAside: number;
  /** 0 for a signal that the previous process was sending, or whose outcome is unknown. */
  readonly isWaiting: number;
}

/** The sign keeps SQLite from reading the whole table in the order of its rows. */
const order = 'ORDER BY +seq';
const rowsOf = (condition: string) =>
  `SELECT seq, account, signal_id AS signalId, market, set_aside_at_ms IS NOT NULL AS isAside,
     status = 'accepted' AS isWaiting FROM entries
   WHERE ${condition} AND market IS NOT NULL`;

/** Rows are found by their numbers. Their ids are compared, too: a number is given again when its write was lost. */
export function prepareStatements({ database }: SqliteFile) {
  return {
    waiting: database.prepare(`${rowsOf(`status = 'accepted' AND ${underWay}`)} ${order}`),
    // The last are the unknown ones.
    unfinished: database.prepare(
      `SELECT * FROM (${rowsOf(underWay)} UNION ALL ${rowsOf('look_due_at_ms IS NOT NULL')}) ${order}`,
    ),
    isWaiting: database.prepare(
      `SELECT 1 FROM entries WHERE seq = ? AND account = ? AND signal_id = ? AND status = 'accepted'`,
    ),
    isSending: database.prepare(
      `SELECT 1 FROM entries WHERE seq = ? AND account = ? AND signal_id = ? AND status = 'sending'`,
    ),
    setAside: database.prepare(
      `UPDATE entries SET set_aside_at_ms = ?
       WHERE seq = ? AND account = ? AND signal_id = ? AND status = 'accepted'`,
    ),
    // Changes only when another connection has written.
    dataVersion: database.prepare('PRAGMA data_version'),
  };
}
