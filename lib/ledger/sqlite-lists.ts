import type { StatementSync } from 'node:sqlite';
import type { SqliteFile } from '../base/sqlite.ts';
import { refusalPrefixOf } from '../model/refusal-prefix.ts';
import type { Entry } from './entry.ts';
import { type EntryPage, type EntryQuery, farthestLookupMs } from './ledger.ts';
import { mostRefusals, sortNewestFirst } from './refusals.ts';
import {
  type EntryRow,
  entriesOf,
  entryOrDamaged,
  formatCursor,
  listStatement,
  type Statements,
  startOf,
} from './sqlite-entries.ts';

/** Lists entries; each list reads an index, and the cost of a page grows with its size only. */
export class SqliteLists {
  readonly #file: SqliteFile;
  readonly #statements: Statements;
  readonly #listings = new Map<string, StatementSync>();

  constructor(file: SqliteFile, statements: Statements) {
    this.#file = file;
    this.#statements = statements;
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
