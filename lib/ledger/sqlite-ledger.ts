import type { StatementSync } from 'node:sqlite';
import { migrateTables, type SqliteFile } from '../base/sqlite.ts';
import { refusalPrefixOf } from '../model/refusal-prefix.ts';
import { boundLookup, boundStep } from './bound-step.ts';
import { createAcceptedEntry, createFirstLookup, createRefusedEntry } from './create-entry.ts';
import type { Entry, EntryKey, LookupProgress, Step } from './entry.ts';
import {
  type Accepted,
  clockToleranceMs,
  createConflict,
  type EntryPage,
  type EntryQuery,
  farthestLookupMs,
  isOpenAfter,
  isOtherAlert,
  type Ledger,
  limitWindowMs,
  type MinuteLimit,
  type Move,
  type NewEntry,
  type Pause,
  type RefusedEntry,
  refuseIllegalMove,
  type Started,
  type StoredSignal,
} from './ledger.ts';
import { mostRefusals, sortNewestFirst } from './refusals.ts';
import {
  type EntryRow,
  entriesOf,
  entryOf,
  entryOrDamaged,
  formatCursor,
  listStatement,
  migrations,
  rowOf,
  sql,
  startOf,
} from './sqlite-entries.ts';
import { formatLookup } from './stored-entry.ts';

type Statements = Readonly<Record<keyof typeof sql, StatementSync>>;

/**
 * Writes what belongs to new entries, such as their queue messages, in the transaction that stores them.
 *
 * It may run more than once if the transaction is retried, so it must change nothing but the database.
 *
 * @returns a function to call after the commit
 */
export type Alongside = (entries: readonly Entry[]) => () => void;

/**
 * Creates the ledger on SQLite, where every method is one transaction.
 *
 * @param alongside absent: nothing else is written, for example when the queue is not in this file
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteLedger(file: SqliteFile, alongside: Alongside = () => () => undefined): Ledger {
  migrateTables(file, 'ledger', migrations);
  return new SqliteLedger(file, alongside);
}

class SqliteLedger implements Ledger {
  readonly #file: SqliteFile;
  readonly #statements: Statements;
  readonly #alongside: Alongside;
  readonly #listings = new Map<string, StatementSync>();

  constructor(file: SqliteFile, alongside: Alongside) {
    this.#file = file;
    this.#alongside = alongside;
    const prepared = Object.entries(sql).map(([name, text]) => [name, file.database.prepare(text)]);
    this.#statements = Object.fromEntries(prepared) as Statements;
  }

  accept(newEntries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted> {
    let afterCommit = () => {};
    return this.#file
      .write((): Accepted => {
        const signals = newEntries.map((newEntry): StoredSignal => {
          const found = this.#find(newEntry);
          return { entry: found ?? createAcceptedEntry(newEntry), isNew: found === null };
        });
        const taken = signals.find(({ entry }, index) => isOtherAlert(newEntries[index] as NewEntry, entry));
        if (taken !== undefined) return { result: 'id_taken', by: taken.entry };
        const fresh = signals.filter(({ isNew }) => isNew).map(({ entry }) => entry);
        const count = this.#countBefore(newEntries[0], limit);
        if (limit !== null && fresh.length > 0 && count + fresh.length > limit.maxPerMinute)
          return { result: 'over_limit', count };
        for (const entry of fresh) this.#statements.insert.run(...rowOf(entry));
        afterCommit = this.#alongside(fresh);
        return { result: 'stored', signals };
      })
      .then((accepted) => {
        afterCommit();
        return accepted;
      });
  }

  #countBefore(newEntry: NewEntry | undefined, limit: MinuteLimit | null): number {
    if (newEntry === undefined || limit === null) return 0;
    return this.#count('countSignals', newEntry, newEntry.atMs);
  }

  /** Events further in the future than `clockToleranceMs` do not count. */
  #count(name: 'countSignals' | 'countOrders', { account }: EntryKey, nowMs: number): number {
    const row = this.#statements[name].get(account, nowMs - limitWindowMs, nowMs + clockToleranceMs);
    return Number(row?.['n']);
  }

  async refuse(refused: RefusedEntry): Promise<void> {
    const row = rowOf(createRefusedEntry(refused));
    await this.#file.write(() => this.#statements.insert.run(...row));
  }

  async start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started> {
    const { account, signalId } = key;
    const { atMs } = step;
    const text = JSON.stringify(boundStep(step));
    const window = [atMs - limitWindowMs, atMs + clockToleranceMs] as const;
    return this.#file.write(() => {
      const { start } = this.#statements;
      const { changes } = start.run(account, signalId, atMs, text, ...window, limit?.maxPerMinute ?? null);
      if (changes === 1) return { result: 'started' };
      const entry = this.#find(key);
      if (entry === null) throw createConflict(key, { from: 'accepted', step });
      if (entry.status !== 'accepted') return { result: 'conflict', entry };
      return { result: 'over_limit', count: this.#count('countOrders', key, atMs) };
    });
  }

  async move(key: EntryKey, move: Move): Promise<Entry> {
    refuseIllegalMove(key, move);
    const { from, step, orderId = null } = move;
    const { account, signalId } = key;
    const text = JSON.stringify(boundStep(step));
    const isOpen = isOpenAfter(move);
    const open = isOpen === undefined ? null : Number(isOpen);
    const look = step.status === 'unknown' ? formatLookup(createFirstLookup(step.atMs)) : null;
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
      // The actual status is read in the same transaction, so that the error is consistent.
      return { moved: row, found: row === undefined ? this.#statements.read.get(account, signalId) : row };
    });
    if (moved === undefined) throw createConflict(key, move, found as EntryRow | undefined);
    return entryOrDamaged(moved as unknown as EntryRow);
  }

  async closeOrder({ account, signalId }: EntryKey): Promise<void> {
    await this.#file.write(() => this.#statements.closeOrder.run(account, signalId));
  }

  async read(key: EntryKey): Promise<Entry | null> {
    return this.#file.read(() => this.#find(key));
  }

  async readRefusals(account: string, alertId: string): Promise<readonly Entry[]> {
    return sortNewestFirst(await this.findByPrefix(account, refusalPrefixOf(alertId), mostRefusals));
  }

  async findByPrefix(account: string, prefix: string, limit: number): Promise<readonly Entry[]> {
    return entriesOf(this.#rows(this.#statements.findByPrefix, account, prefix, limit));
  }

  async list(query: EntryQuery): Promise<EntryPage> {
    const { status, account, limit } = query;
    const { createdAtMs, seq } = startOf(query);
    const filters = [status, account].filter((value) => value !== undefined);
    // One row more than the limit shows whether there is another page.
    const rows = this.#rows(this.#listing(query), ...filters, createdAtMs, seq, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      entries: entriesOf(page),
      cursors: page.map(formatCursor),
      next: rows.length > limit && last !== undefined ? formatCursor(last) : null,
    };
  }

  async waiting(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    return entriesOf(this.#rows(this.#statements.waiting, account, market, limit));
  }

  async openOrders(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    return entriesOf(this.#rows(this.#statements.openOrders, account, market, limit));
  }

  async findOrder(account: string, market: string, orderId: number): Promise<Entry | null> {
    const [row] = this.#rows(this.#statements.findOrder, account, orderId, market);
    return row === undefined ? null : entryOrDamaged(row);
  }

  async dueLookups(nowMs: number, limit: number): Promise<readonly Entry[]> {
    const { dueLookups, lookupsAhead } = this.#statements;
    const rows = this.#rows(dueLookups, nowMs, limit);
    return entriesOf([...rows, ...this.#rows(lookupsAhead, nowMs + farthestLookupMs, limit - rows.length)]);
  }

  postpone({ account, signalId }: EntryKey, seen: LookupProgress, lookup: LookupProgress): Promise<boolean> {
    const text = formatLookup(boundLookup(lookup));
    return this.#file.write(() => {
      const { changes } = this.#statements.postpone.run(
        account,
        signalId,
        seen.dueAtMs,
        text,
        lookup.dueAtMs,
      );
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
    const row = this.#statements.read.get(account, signalId);
    return row === undefined ? null : entryOf(row as unknown as EntryRow);
  }

  #rows(statement: StatementSync, ...values: readonly (string | number)[]): readonly EntryRow[] {
    return this.#file.read(() => statement.all(...values)) as unknown as readonly EntryRow[];
  }

  /** Prepares a statement at its first use: there are eight, and a relay uses two. */
  #listing(query: EntryQuery): StatementSync {
    const text = listStatement(query);
    const known = this.#listings.get(text) ?? this.#file.read(() => this.#file.database.prepare(text));
    this.#listings.set(text, known);
    return known;
  }
}
