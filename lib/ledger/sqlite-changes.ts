import type { StatementSync } from 'node:sqlite';
import type { Alarm } from '../base/alarms.ts';
import { parseOwnJson } from '../base/json.ts';
import type { LogFacts } from '../base/log.ts';
import { migrateTables } from '../base/migrate-tables.ts';
import type { SqliteFile } from '../base/sqlite.ts';
import type { Execution } from '../model/execution.ts';
import type { Entry } from './entry.ts';
import type { Pause } from './ledger.ts';
import {
  type AlarmChange,
  accountIn,
  type LedgerChange,
  outcomeOf,
  type RecordedAlarm,
} from './ledger-change.ts';
import { type EntryRow, entryOrDamaged } from './sqlite-entries.ts';
import { migrateLedgerTables } from './sqlite-migrations.ts';

/** `seq` is never given twice, although rows are removed: whoever follows the changes remembers the last one it has seen. */
export const changesMigrations: readonly string[] = [
  `CREATE TABLE ledger_changes (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     kind TEXT NOT NULL,
     account TEXT,
     signal_id TEXT,
     at_ms INTEGER,
     before TEXT,
     after TEXT
   ) STRICT;
   CREATE TABLE told_days (account TEXT PRIMARY KEY, day TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
];

const insertInto = 'INSERT INTO ledger_changes (kind, account, signal_id, at_ms, before, after) VALUES';

/**
 * The changes are noted by the database itself, in the transaction that makes them, whichever process that is. What is on its
 * way (`accepted`, `sending`) is no change: an order costs one more row, once its outcome is known.
 */
const triggers: Readonly<Record<string, string>> = {
  note_outcome: `AFTER UPDATE OF status ON entries
    WHEN OLD.status <> NEW.status AND NEW.status NOT IN ('accepted', 'sending') BEGIN
      ${insertInto} ('outcome', NEW.account, NEW.signal_id, NEW.updated_at_ms, OLD.status, NEW.status); END`,
  note_refusal: `AFTER INSERT ON entries WHEN NEW.status = 'invalid' BEGIN
      ${insertInto} ('outcome', NEW.account, NEW.signal_id, NEW.updated_at_ms, NULL, NEW.status); END`,
  note_execution: `AFTER UPDATE OF execution ON entries WHEN OLD.execution IS NOT NEW.execution BEGIN
      ${insertInto} ('execution', NEW.account, NEW.signal_id, NULL, OLD.execution, NEW.execution); END`,
  note_pause: `AFTER INSERT ON pauses BEGIN
      ${insertInto} ('pause', NEW.account, NULL, NEW.since_ms, NULL,
        json_object('sinceMs', NEW.since_ms, 'reason', NEW.reason, 'kind', NEW.kind)); END`,
  note_resume: `AFTER DELETE ON pauses BEGIN ${insertInto} ('pause', OLD.account, NULL, NULL, NULL, NULL); END`,
};

const sql = {
  list: 'SELECT * FROM ledger_changes WHERE seq > ? ORDER BY seq LIMIT ?',
  count: 'SELECT count(*) AS seq FROM ledger_changes WHERE seq > ?',
  last: 'SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0) AS seq',
  first: 'SELECT coalesce(min(seq), 0) AS seq FROM ledger_changes',
  forget: 'DELETE FROM ledger_changes WHERE seq <= ?',
  forgetOld: "DELETE FROM ledger_changes WHERE seq <= ? AND kind <> 'alarm'",
  read: 'SELECT * FROM entries WHERE account = ? AND signal_id = ?',
  add: `${insertInto} (?, ?, NULL, ?, NULL, ?)`,
  trigger: "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?",
  toldDay: 'SELECT day FROM told_days WHERE account = ?',
  tellDay: 'INSERT OR REPLACE INTO told_days VALUES (?, ?)',
} as const;

/** So many changes wait at most for a channel that is not reached, and alarms besides. */
const mostKept = 100_000;
const mostUnnoted = 100;

/** A change and its place among all changes of a ledger. */
export interface PlacedChange {
  readonly seq: number;
  /** Null when what has changed can no longer be read. */
  readonly change: LedgerChange | null;
}

/** The changes of a ledger on SQLite, kept until they are forgotten. */
export interface SqliteChanges {
  /** From now on every change is noted. */
  begin(): Promise<void>;
  /** From now on none is, and those that were noted are gone. */
  end(): Promise<void>;
  /** The place of the newest change; 0 before the first. */
  last(): number;
  /** How many changes there are after a place. */
  count(after: number): number;
  /** The changes after a place, oldest first: those on the disk, because the place of one that is lost is given again. */
  list(after: number, limit: number): Promise<readonly PlacedChange[]>;
  /** Removes the changes up to a place; of those behind it, the oldest beyond a hundred thousand that are no alarm. */
  forget(until: number): Promise<void>;
  /**
   * Notes an alarm at once, in the transaction that is open, and in the next one if that is lost: whatever is written after it
   * is on the disk only when the alarm is.
   *
   * @throws RelayError `store_unavailable` when it waits for the next transaction
   */
  addAlarm(alarm: Alarm, facts: LogFacts, atMs: number): void;
  /** The alarms that are not on the disk, oldest first; the last hundred while it is full for long. */
  unnoted(): readonly AlarmChange[];
  /** @returns the day of which figures were noted last, as it was given; null: of none */
  toldDay(account: string): string | null;
  /** Notes the figures of a day, and that they are noted. */
  addDay(account: string, day: string, lines: readonly string[], atMs: number): Promise<void>;
}

/** @throws RelayError `store_unavailable` when the file was written by a newer release */
export function createSqliteChanges(file: SqliteFile): SqliteChanges {
  migrateLedgerTables(file);
  migrateTables(file, 'ledger-changes', changesMigrations);
  const { database } = file;
  const prepared = Object.entries(sql).map(([name, text]) => [name, database.prepare(text)]);
  const statements = Object.fromEntries(prepared) as Record<keyof typeof sql, StatementSync>;

  let unnoted: readonly AlarmChange[] = [];
  let added = 0;

  function placeIn(statement: 'first' | 'last' | 'count', ...values: readonly (string | number)[]): number {
    return Number(file.read(() => statements[statement].get(...values))?.['seq']);
  }

  /** Each trigger as it should be, and as the file has it. */
  function readTriggers() {
    return file.read(() =>
      Object.entries(triggers).map(([name, rest]) => {
        const row = statements.trigger.get(name);
        return {
          name,
          text: `CREATE TRIGGER ${name} ${rest}`,
          stored: row === undefined ? null : String(row['sql']),
        };
      }),
    );
  }

  function find(account: string, signalId: string): Entry | null {
    const row = statements.read.get(account, signalId) as unknown as EntryRow | undefined;
    return row === undefined ? null : entryOrDamaged(row);
  }

  return {
    async begin() {
      if (readTriggers().every(({ stored, text }) => stored === text)) return;
      await file.write(() => {
        for (const { name, text } of readTriggers()) {
          database.exec(`DROP TRIGGER IF EXISTS ${name}`);
          database.exec(text);
        }
      });
    },
    async end() {
      if (placeIn('first') === 0 && readTriggers().every(({ stored }) => stored === null)) return;
      await file.write(() => {
        for (const name of Object.keys(triggers)) database.exec(`DROP TRIGGER IF EXISTS ${name}`);
        database.exec('DELETE FROM ledger_changes');
      });
    },
    last: () => placeIn('last', 'ledger_changes'),
    count: (after) => placeIn('count', after),
    list(after, limit) {
      return file.readDurable(() => {
        const rows = statements.list.all(after, limit) as unknown as readonly ChangeRow[];
        return rows.map((row) => ({ seq: row.seq, change: orNull(() => changeOf(row, find)) }));
      });
    },
    async forget(until) {
      const [first, last] = [placeIn('first'), placeIn('last', 'ledger_changes')];
      const old = last - mostKept;
      if (first === 0 || (first > until && first > old)) return;
      await file.write(() => {
        statements.forget.run(until);
        statements.forgetOld.run(old);
      });
    },
    addAlarm({ name, message }, facts, atMs) {
      added += 1;
      // Kept with its id: what was told from memory is known on the disk.
      const kept = { id: `${atMs} ${added}`, name, message, facts };
      const alarm: AlarmChange = { ...kept, kind: 'alarm', account: accountIn(facts), atMs };
      unnoted = [...unnoted, alarm].slice(-mostUnnoted);
      file.insist(
        () => void statements.add.run('alarm', alarm.account, atMs, JSON.stringify(kept)),
        () => {
          unnoted = unnoted.filter((other) => other !== alarm);
        },
      );
    },
    unnoted: () => unnoted,
    toldDay(account) {
      const row = file.read(() => statements.toldDay.get(account));
      return row === undefined ? null : String(row['day']);
    },
    async addDay(account, day, lines, atMs) {
      await file.write(() => {
        statements.add.run('day', account, atMs, JSON.stringify(lines));
        statements.tellDay.run(account, day);
      });
    },
  };
}

interface ChangeRow {
  readonly seq: number;
  readonly kind: string;
  readonly account: string | null;
  readonly signal_id: string | null;
  readonly at_ms: number | null;
  readonly before: string | null;
  readonly after: string | null;
}

type Find = (account: string, signalId: string) => Entry | null;

function changeOf(row: ChangeRow, find: Find): LedgerChange | null {
  const { seq, kind, account, at_ms: atMs, before, after } = row;
  const base = { id: String(seq), account, atMs };
  switch (kind) {
    case 'outcome':
    case 'execution': {
      const entry = find(account ?? '', row.signal_id ?? '');
      if (entry === null) return null;
      if (kind === 'outcome') return outcomeOf(base, entry, after);
      const execution = executionOf(after);
      const changed = { ...entry, execution };
      return {
        ...base,
        kind,
        atMs: execution?.readAtMs ?? null,
        entry: changed,
        before: executionOf(before),
      };
    }
    case 'pause':
      return { ...base, kind, pause: after === null ? null : parseOwnJson<Pause>(after) };
    case 'alarm':
      return { ...base, kind, ...parseOwnJson<RecordedAlarm & { readonly id?: string }>(after ?? '{}') };
    case 'day':
      return { ...base, kind, lines: parseOwnJson<string[]>(after ?? '[]') };
    default:
      return null;
  }
}

/** A text that was damaged in the store must not hide what comes after it. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function executionOf(text: string | null): Execution | null {
  return text === null ? null : parseOwnJson<Execution>(text);
}
