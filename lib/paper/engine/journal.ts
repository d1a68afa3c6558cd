import * as z from 'zod';
import { RelayError } from '../../base/errors.ts';
import { readJson } from '../../base/json.ts';
import { migrateTables } from '../../base/migrate-tables.ts';
import { openSqlite, type SqliteFile } from '../../base/sqlite.ts';
import type { Command } from './engine.ts';
import { firstOrderIdAt } from './first-order-id.ts';
import { checkStorable, EntrySchema, type JournalEntry } from './stored-entries.ts';

/** The exchange's state on disk, as commands. Replaying them in order restores the same state. */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** The id of the first order. It is above those of every journal that was begun before this one. */
  readonly firstOrderId: number;
  /** Whether an older release had written entries, which this one cannot replay and has removed. */
  readonly wasEmptied: boolean;
  /**
   * Must be called before a command is applied: a command that cannot be stored must not take effect.
   *
   * @throws RangeError that names the field that cannot be stored
   */
  check(command: Command): void;
  /**
   * Resolves once the entry is on disk. Entries are stored in the order of the calls.
   *
   * @throws RelayError `store_unavailable`
   */
  append(entry: JournalEntry): Promise<void>;
  close(): void;
}

/** A release that would replay old entries to another state appends a script that empties both tables. */
export const journalMigrations = [
  'CREATE TABLE paper_journal (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT',
  // Orders now have a kind, and omit a stop-loss or take-profit that is null.
  `UPDATE paper_journal SET entry = json_set(entry, '$.command.order.kind', 'stop_limit')
     WHERE json_extract(entry, '$.command.kind') = 'create';
   UPDATE paper_journal SET entry = json_remove(entry, '$.command.order.stopLoss')
     WHERE json_type(entry, '$.command.order.stopLoss') = 'null';
   UPDATE paper_journal SET entry = json_remove(entry, '$.command.order.takeProfit')
     WHERE json_type(entry, '$.command.order.takeProfit') = 'null';`,
  // Orders now have a type, trade against an order book, and have positions on margin pairs too.
  `DELETE FROM paper_journal;
   CREATE TABLE IF NOT EXISTS paper_start (first_order_id INTEGER NOT NULL) STRICT;`,
];

/**
 * Opens or creates a journal and reads its entries.
 *
 * @param nowMs the time of a journal that is begun now
 * @throws RelayError `store_unavailable` when a newer release wrote the file, or the file cannot be read
 */
export function openJournal(path: string, nowMs: number): Journal {
  const file = openSqlite(path);
  try {
    return journalIn(file, path, nowMs);
  } catch (error) {
    file.close();
    throw error;
  }
}

function journalIn(file: SqliteFile, path: string, nowMs: number): Journal {
  nameOldestVersion(file);
  const hadEntries = hasEntries(file);
  migrateTables(file, 'paper journal', journalMigrations);
  const entries = readEntries(file, path);
  const firstOrderId = readFirstOrderId(file, nowMs);
  const insert = file.database.prepare('INSERT INTO paper_journal (entry) VALUES (?)');
  return {
    entries,
    firstOrderId,
    wasEmptied: hadEntries && entries.length === 0,
    check: checkStorable,
    append(entry) {
      const text = JSON.stringify(z.encode(EntrySchema, entry));
      return file.write(() => {
        insert.run(text);
      });
    },
    close: () => file.close(),
  };
}

/** The first journals stored their version in `PRAGMA user_version`. In all else they equal version 1. */
function nameOldestVersion({ database }: SqliteFile): void {
  const hasVersions = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_versions'").get();
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {};
  if (hasVersions !== undefined || version !== 1) return;
  database.exec(
    `BEGIN IMMEDIATE;
     CREATE TABLE schema_versions (store TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
     INSERT INTO schema_versions VALUES ('paper journal', 1);
     COMMIT;`,
  );
}

/** Before the tables are migrated: a new file has none yet. */
function hasEntries({ database }: SqliteFile): boolean {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'paper_journal'").get();
  return table !== undefined && database.prepare('SELECT 1 FROM paper_journal').get() !== undefined;
}

/** It is stored, because a replay must give every order its id again. */
function readFirstOrderId({ database }: SqliteFile, nowMs: number): number {
  const stored = database.prepare('SELECT first_order_id FROM paper_start').get();
  if (stored !== undefined) return Number(stored['first_order_id']);
  const firstOrderId = firstOrderIdAt(nowMs);
  database.prepare('INSERT INTO paper_start VALUES (?)').run(firstOrderId);
  return firstOrderId;
}

function readEntries({ database }: SqliteFile, path: string): JournalEntry[] {
  const rows = database.prepare('SELECT sequence, entry FROM paper_journal ORDER BY sequence').all();
  return rows.map(({ sequence, entry }) => {
    try {
      return z.decode(EntrySchema, readJson(String(entry)));
    } catch (error) {
      throw unusable(path, `its entry ${sequence} cannot be read`, error);
    }
  });
}

/** The error for a journal that cannot be used. It says how to start afresh. */
export function unusable(path: string, reason: string, cause?: unknown): RelayError {
  return new RelayError(
    'store_unavailable',
    `the paper exchange cannot use its journal ${path}: ${reason}; move the file away to start afresh`,
    { cause },
  );
}
