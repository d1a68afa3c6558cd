import type { StatementSync } from 'node:sqlite';
import { migrateTables, type SqliteFile } from '../base/sqlite.ts';
import { refusalPrefixOf } from '../model/refusal-prefix.ts';
import type { Entry, EntryKey, Look, Step } from './entry.ts';
import {
  type Accepted,
  createAcceptedEntry,
  createConflict,
  createFirstLook,
  createRefusedEntry,
  type EntryPage,
  type EntryQuery,
  isOpenAfter,
  type Ledger,
  limitWindowMs,
  type MinuteLimit,
  type Move,
  type NewEntry,
  type Pause,
  type RefusedEntry,
  refuseIllegalMove,
  type Started,
} from './ledger.ts';
import { mostRefusals, sortNewestFirst } from './refusals.ts';
import { type EntryRow, entryOf, formatCursor, migrations, rowOf, sql, startOf } from './sqlite-entries.ts';

type Statements = Readonly<Record<keyof typeof sql, StatementSync>>;

/**
 * The ledger in an embedded database: every method one statement, or two in one transaction.
 *
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteLedger(file: SqliteFile): Ledger {
  migrateTables(file, 'ledger', migrations);
  return new SqliteLedger(file);
}

class SqliteLedger implements Ledger {
  readonly #file: SqliteFile;
  readonly #statements: Statements;

  constructor(file: SqliteFile) {
    this.#file = file;
    const prepared = Object.entries(sql).map(([name, text]) => [name, file.database.prepare(text)]);
    this.#statements = Object.fromEntries(prepared) as Statements;
  }

  accept(newEntry: NewEntry, limit: MinuteLimit | null): Promise<Accepted> {
    const entry = createAcceptedEntry(newEntry);
    const row = rowOf(entry);
    const sinceMs = newEntry.atMs - limitWindowMs;
    return this.#file.write(() => {
      const { changes } = this.#statements.accept.run(...row, sinceMs, limit?.maxPerMinute ?? null);
      if (changes === 1) return { result: 'created', entry };
      const existing = this.#find(newEntry);
      if (existing !== null) return { result: 'exists', entry: existing };
      return { result: 'over_limit', count: count(this.#statements.countSignals, newEntry, sinceMs) };
    });
  }

  async refuse(refused: RefusedEntry): Promise<void> {
    const row = rowOf(createRefusedEntry(refused));
    await this.#file.write(() => this.#statements.refuse.run(...row));
  }

  async start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started> {
    const { account, signalId } = key;
    const sinceMs = step.atMs - limitWindowMs;
    const text = JSON.stringify(step);
    return this.#file.write(() => {
      const { start, countOrders } = this.#statements;
      const { changes } = start.run(account, signalId, step.atMs, text, sinceMs, limit?.maxPerMinute ?? null);
      if (changes === 1) return { result: 'started' };
      const entry = this.#find(key);
      if (entry === null) throw createConflict(key, { from: 'accepted', step }, null);
      if (entry.status !== 'accepted') return { result: 'conflict', entry };
      return { result: 'over_limit', count: count(countOrders, key, sinceMs) };
    });
  }

  async move(key: EntryKey, move: Move): Promise<Entry> {
    refuseIllegalMove(key, move);
    const { from, step, orderId = null } = move;
    const { account, signalId } = key;
    const text = JSON.stringify(step);
    const isOpen = isOpenAfter(move);
    const open = isOpen === undefined ? null : Number(isOpen);
    const look = step.status === 'unknown' ? JSON.stringify(createFirstLook(step.atMs)) : null;
    const { moved, found } = await this.#file.write(() => {
      const row = this.#statements.move.get(
        account,
        signalId,
        from,
        step.status,
        step.atMs,
        text,
        orderId,
        open,
        look,
      );
      // What it is instead must be read in the same transaction, to be told of the same moment.
      return { moved: toEntry(row), found: row === undefined ? this.#find(key) : null };
    });
    if (moved === null) throw createConflict(key, move, found);
    return moved;
  }

  async closeOrder({ account, signalId }: EntryKey): Promise<void> {
    await this.#file.write(() => this.#statements.closeOrder.run(account, signalId));
  }

  async read(key: EntryKey): Promise<Entry | null> {
    return this.#file.read(() => this.#find(key));
  }

  async readRefusals(account: string, alertId: string): Promise<readonly Entry[]> {
    const { readRefusals } = this.#statements;
    const rows = this.#file.read(() => readRefusals.all(account, refusalPrefixOf(alertId), mostRefusals));
    return sortNewestFirst((rows as unknown as readonly EntryRow[]).map(entryOf));
  }

  async list(query: EntryQuery): Promise<EntryPage> {
    const { status, limit, oldestFirst = false } = query;
    const { createdAtMs, seq } = startOf(query);
    const { list, listStatus, listOldest, listStatusOldest } = this.#statements;
    // One more than asked for tells whether there is another page.
    const rows = this.#file.read(() =>
      status === undefined
        ? (oldestFirst ? listOldest : list).all(createdAtMs, seq, limit + 1)
        : (oldestFirst ? listStatusOldest : listStatus).all(status, createdAtMs, seq, limit + 1),
    ) as unknown as readonly EntryRow[];
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      entries: page.map(entryOf),
      next: rows.length > limit && last !== undefined ? formatCursor(last) : null,
    };
  }

  async openOrders(account: string, market: string): Promise<readonly Entry[]> {
    const rows = this.#file.read(() => this.#statements.openOrders.all(account, market));
    return (rows as unknown as readonly EntryRow[]).map(entryOf);
  }

  async dueLooks(nowMs: number, limit: number): Promise<readonly Entry[]> {
    const rows = this.#file.read(() => this.#statements.dueLooks.all(nowMs, limit));
    return (rows as unknown as readonly EntryRow[]).map(entryOf);
  }

  postpone({ account, signalId }: EntryKey, seen: Look, look: Look): Promise<boolean> {
    const text = JSON.stringify(look);
    return this.#file.write(() => {
      const { changes } = this.#statements.postpone.run(account, signalId, seen.dueAtMs, text, look.dueAtMs);
      return changes === 1;
    });
  }

  async readPause(account: string): Promise<Pause | null> {
    const row = this.#file.read(() => this.#statements.readPause.get(account));
    return row === undefined ? null : { sinceMs: Number(row['since_ms']), reason: String(row['reason']) };
  }

  async writePause(account: string, pause: Pause | null): Promise<void> {
    const { pause: insert, resume } = this.#statements;
    await this.#file.write(() =>
      pause === null ? resume.run(account) : insert.run(account, pause.sinceMs, pause.reason),
    );
  }

  #find({ account, signalId }: EntryKey): Entry | null {
    return toEntry(this.#statements.read.get(account, signalId));
  }
}

function toEntry(row: ReturnType<StatementSync['get']>): Entry | null {
  return row === undefined ? null : entryOf(row as unknown as EntryRow);
}

function count(statement: StatementSync, { account }: EntryKey, sinceMs: number): number {
  return Number(statement.get(account, sinceMs)?.['n']);
}
