import * as z from 'zod';
import type { Decimal } from '../base/decimal.ts';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import { migrateTables, openSqlite, type SqliteFile } from '../base/sqlite.ts';
import type { Command } from './engine.ts';
import { CommandSchema, DecimalText } from './stored-commands.ts';

/**
 * One journal entry: the prices that changed since the previous entry without affecting an order, then a
 * command.
 */
export interface JournalEntry {
  /** Market → last price. */
  readonly prices: Readonly<Record<string, Decimal>>;
  /** Null when only prices moved. */
  readonly command: Command | null;
}

/** The exchange's state on disk, as commands. Replaying them in order restores the same state. */
export interface Journal {
  readonly entries: readonly JournalEntry[];
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

const EntrySchema: z.ZodType<JournalEntry> = z.object({
  prices: z.record(z.string(), DecimalText),
  command: CommandSchema.nullable(),
});

/** A release that would replay old entries to another state appends a script that empties the table. */
export const migrations = [
  'CREATE TABLE paper_journal (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT',
  // Orders now have a kind, and omit a stop-loss or take-profit that is null.
  `UPDATE paper_journal SET entry = json_set(entry, '$.command.order.kind', 'stop_limit')
     WHERE json_extract(entry, '$.command.kind') = 'create';
   UPDATE paper_journal SET entry = json_remove(entry, '$.command.order.stopLoss')
     WHERE json_type(entry, '$.command.order.stopLoss') = 'null';
   UPDATE paper_journal SET entry = json_remove(entry, '$.command.order.takeProfit')
     WHERE json_type(entry, '$.command.order.takeProfit') = 'null';`,
  // Orders now have a type, trade against an order book, and have positions on margin pairs too.
  'DELETE FROM paper_journal',
];

/**
 * Opens or creates a journal and reads its entries.
 *
 * @throws RelayError `store_unavailable` when a newer release wrote the file, or the file cannot be read
 */
export function openJournal(path: string): Journal {
  const file = openSqlite(path);
  try {
    return journalIn(file, path);
  } catch (error) {
    file.close();
    throw error;
  }
}

function journalIn(file: SqliteFile, path: string): Journal {
  nameOldestVersion(file);
  migrateTables(file, 'paper journal', migrations);
  const entries = readEntries(file, path);
  const insert = file.database.prepare('INSERT INTO paper_journal (entry) VALUES (?)');
  return {
    entries,
    check(command) {
      const { error } = z.safeEncode(CommandSchema, command);
      if (error !== undefined)
        throw new RangeError(`the journal cannot keep this command: ${z.prettifyError(error)}`);
    },
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
