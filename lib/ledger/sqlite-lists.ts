import type { StatementSync } from 'node:sqlite';
import type { SqliteFile } from '../base/sqlite.ts';
import type { Entry } from './entry.ts';
import { clockToleranceMs, type EntryPage, type EntryQuery, farthestLookupMs } from './ledger.ts';
import type { LedgerWatch } from './ledger-watch.ts';
import {
  type EntryRow,
  entriesOf,
  entryOrDamaged,
  formatCursor,
  isUnderWay,
  type ListQuery,
  listStatement,
  type Place,
  type Statements,
  startOf,
} from './sqlite-entries.ts';

/** Lists entries; each list reads an index, and the cost of a page grows with its size only. */
export class SqliteLists {
  readonly #file: SqliteFile;
  readonly #statements: Statements;
  readonly #watch: LedgerWatch | null;
  readonly #listings = new Map<string, StatementSync>();

  constructor(file: SqliteFile, statements: Statements, watch: LedgerWatch | null) {
    this.#watch = watch;
    this.#file = file;
    this.#statements = statements;
  }

  async findByPrefix(account: string, prefix: string, limit: number): Promise<readonly Entry[]> {
    return entriesOf(this.#rows(this.#statements.findByPrefix, account, prefix, limit));
  }

  async list(query: EntryQuery): Promise<EntryPage> {
    const { limit } = query;
    // One row more than the limit shows whether there is another page.
    const rows = this.#rowsOf(query, startOf(query), limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      entries: entriesOf(page),
      cursors: page.map(formatCursor),
      next: rows.length > limit && last !== undefined ? formatCursor(last) : null,
    };
  }

  /** Each account has an index of its own signals; the page of all accounts is put together from theirs. */
  #rowsOf(query: ListQuery, start: Place, limit: number): readonly EntryRow[] {
    if (query.account !== undefined || isUnderWay(query.status)) return this.#rowsOfOne(query, start, limit);
    const accounts = this.#file.read(() => this.#statements.accounts.all());
    const rows = accounts.flatMap(({ account }) =>
      this.#rowsOfOne({ ...query, account: String(account) }, start, limit),
    );
    const direction = query.oldestFirst === true ? 1 : -1;
    const compare = (a: EntryRow, b: EntryRow) => a.created_at_ms - b.created_at_ms || a.seq - b.seq;
    return rows.sort((a, b) => direction * compare(a, b)).slice(0, limit);
  }

  #rowsOfOne(query: ListQuery, { createdAtMs, seq }: Place, limit: number): readonly EntryRow[] {
    const filters = [query.status, query.account].filter((value) => value !== undefined);
    return this.#rows(this.#listing(query), ...filters, createdAtMs, seq, limit);
  }

  async waiting(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    if (this.#watch === null) return entriesOf(this.#rows(this.#statements.waiting, account, market, limit));
    const numbers = this.#watch.listWaiting(account, market, limit);
    return entriesOf(
      numbers.flatMap((seq) => this.#rows(this.#statements.waitingByNumber, seq, account, market)),
    );
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
    const [farMs, aheadMs] = [nowMs + farthestLookupMs, nowMs + clockToleranceMs];
    const ahead = this.#rows(lookupsAhead, nowMs, farMs, aheadMs, limit - rows.length);
    return entriesOf([...rows, ...ahead]);
  }

  #rows(statement: StatementSync, ...values: readonly (string | number)[]): readonly EntryRow[] {
    return this.#file.read(() => statement.all(...values)) as unknown as readonly EntryRow[];
  }

  /** Prepares a statement at its first use: there are eight, and a relay uses two. */
  #listing(query: ListQuery): StatementSync {
    const text = listStatement(query);
    const known = this.#listings.get(text) ?? this.#file.read(() => this.#file.database.prepare(text));
    this.#listings.set(text, known);
    return known;
  }
}
