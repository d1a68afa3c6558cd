import type { SqliteFile } from '../base/sqlite.ts';
import { boundLookup, formatStep } from './bound-step.ts';
import { createAcceptedEntry, createFirstLookup, createRefusedEntry } from './create-entry.ts';
import type { Entry, EntryKey, LookupProgress, ReceivedMessage, Step } from './entry.ts';
import {
  type Accepted,
  clockToleranceMs,
  type Due,
  type DueKey,
  type EntryPage,
  type EntryQuery,
  type Ledger,
  limitWindowMs,
  type MinuteLimit,
  type Move,
  type NewEntry,
  type Pause,
  type RefusedEntry,
  type Started,
} from './ledger.ts';
import { createConflict, isOtherAlert, listBefore, onlyReduce, refuseIllegalMove } from './ledger-rules.ts';
import { type LedgerWatch, refuseOvertaking, refuseWhileHeld } from './ledger-watch.ts';
import { SqliteArrivals } from './sqlite-arrivals.ts';
import {
  type CountedAs,
  type EntryRow,
  entryOf,
  entryRowOf,
  prepareLedger,
  reducesOf,
  type Statements,
} from './sqlite-entries.ts';
import { SqliteLists } from './sqlite-lists.ts';
import { migrateLedgerTables } from './sqlite-migrations.ts';
import { openStateAfter } from './sqlite-open-state.ts';
import { SqlitePauses } from './sqlite-pauses.ts';
import { formatLookup } from './stored-entry.ts';

/** Undoes a write whose result is that nothing is stored. */
class Undone extends Error {
  readonly result: Accepted;

  constructor(result: Accepted) {
    super();
    this.result = result;
  }
}

/**
 * Creates the ledger on SQLite, where every method is one transaction.
 *
 * @param watch absent: nobody waits for its entries, as in the operator's tool
 * @throws RelayError `store_unavailable` when the file was written by a newer release
 */
export function createSqliteLedger(file: SqliteFile, watch: LedgerWatch | null = null): Ledger {
  migrateLedgerTables(file);
  return new SqliteLedger(file, watch);
}

function countedAs(newEntries: readonly NewEntry[], limit: MinuteLimit | null): CountedAs {
  if (limit === null) return null;
  return onlyReduce(newEntries) ? 'reduction' : 'opening';
}

/** The times that count at `nowMs`: those further in the future than `clockToleranceMs` do not. */
function windowAt(nowMs: number): readonly [number, number] {
  return [nowMs - limitWindowMs, nowMs + clockToleranceMs];
}

class SqliteLedger implements Ledger {
  readonly #file: SqliteFile;
  readonly #statements: Statements;
  readonly #pauses: SqlitePauses;
  readonly #arrivals: SqliteArrivals;
  readonly #watch: LedgerWatch | null;
  readonly #lists: SqliteLists;
  #lastLoss: unknown = null;

  constructor(file: SqliteFile, watch: LedgerWatch | null) {
    this.#file = file;
    this.#watch = watch;
    this.#statements = prepareLedger(file);
    this.#pauses = new SqlitePauses(file, this.#statements);
    this.#arrivals = new SqliteArrivals(this.#statements);
    this.#lists = new SqliteLists(file, this.#statements, watch);
  }

  async accept(newEntries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted> {
    try {
      const { result: rows, durable } = this.#file.execute(() => this.#insert(newEntries, limit));
      for (const { entry, seq } of rows) if (seq !== null) this.#watch?.added(entry, seq);
      await this.#flushed(durable);
      return { result: 'stored', signals: rows.map(({ entry, seq }) => ({ entry, isNew: seq !== null })) };
    } catch (error) {
      if (!(error instanceof Undone)) throw error;
      // What it found may not be on the disk yet.
      await this.#file.write(() => undefined);
      return error.result;
    }
  }

  /** `seq` is null for a signal that was stored before. */
  #insert(newEntries: readonly NewEntry[], limit: MinuteLimit | null) {
    const earlier = this.#arrivals.readEarlier(newEntries, (key) => this.#find(key));
    if (earlier.length > 0) return earlier.map((entry) => ({ entry, seq: null }));
    this.#arrivals.note(newEntries);
    const counted = countedAs(newEntries, limit);
    const count = this.#countBefore(newEntries[0], counted);
    const rows = newEntries.map((newEntry) => {
      const entry = createAcceptedEntry(newEntry);
      const { changes, lastInsertRowid } = this.#statements.insert.run(...entryRowOf(entry, counted));
      if (changes === 1) {
        refuseWhileHeld(newEntry, this.#watch?.find(newEntry)?.stored ?? null);
        this.#keepMessage(lastInsertRowid, newEntry.message);
        return { entry, seq: Number(lastInsertRowid) };
      }
      const found = this.#find(newEntry) ?? entry;
      if (isOtherAlert(newEntry, found)) throw new Undone({ result: 'id_taken', by: found });
      return { entry: found, seq: null };
    });
    const fresh = rows.filter(({ seq }) => seq !== null).length;
    if (limit !== null && fresh > 0 && count + fresh > limit.maxPerMinute)
      throw new Undone({ result: 'over_limit', count });
    return rows;
  }

  /** @throws RelayError `store_unavailable` when the transaction was not committed */
  async #flushed(durable: Promise<void>): Promise<void> {
    try {
      await durable;
    } catch (error) {
      // Every write of the transaction fails with the same error, and one reading shows what became of them all.
      if (error !== this.#lastLoss) {
        this.#lastLoss = error;
        this.#watch?.reload();
      }
      throw error;
    }
  }

  #countBefore(newEntry: NewEntry | undefined, counted: CountedAs): number {
    if (newEntry === undefined || counted === null) return 0;
    const { account, atMs } = newEntry;
    const row = this.#statements.countSignals.get(account, ...windowAt(atMs), reducesOf(counted));
    return Number(row?.['n']);
  }

  #countOrders({ account }: EntryKey, nowMs: number): number {
    return Number(this.#statements.countOrders.get(account, ...windowAt(nowMs))?.['n']);
  }

  async refuse(refused: RefusedEntry): Promise<void> {
    const row = entryRowOf(createRefusedEntry(refused), null);
    await this.#file.write(() => {
      const { changes, lastInsertRowid } = this.#statements.insert.run(...row);
      if (changes === 1) this.#keepMessage(lastInsertRowid, refused.message);
    });
  }

  #keepMessage(seq: number | bigint, message: ReceivedMessage | undefined): void {
    if (message !== undefined) this.#statements.keepMessage.run(seq, message.text, message.omittedBytes);
  }

  async readMessage({ account, signalId }: EntryKey): Promise<ReceivedMessage | null> {
    const row = this.#file.read(() => this.#statements.readMessage.get(account, signalId));
    if (row === undefined) return null;
    return { text: String(row['text']), omittedBytes: Number(row['omitted_bytes']) };
  }

  async start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started> {
    refuseOvertaking(key, this.#watch?.find(key) ?? null);
    const { atMs } = step;
    const text = formatStep(step);
    const { result, durable } = this.#file.execute((): Started => {
      const seq = this.#numberOf(key);
      if (seq === null) throw createConflict(key, { from: 'accepted', step });
      const most = limit?.maxPerMinute ?? null;
      const values = [key.account, seq, atMs, text, ...windowAt(atMs), most, key.signalId];
      const { changes } = this.#statements.start.run(...values);
      if (changes === 1) return { result: 'started' };
      const entry = this.#find(key);
      if (entry === null) throw createConflict(key, { from: 'accepted', step });
      if (entry.status !== 'accepted') return { result: 'conflict', entry };
      return { result: 'over_limit', count: this.#countOrders(key, atMs) };
    });
    if (result.result === 'started') this.#watch?.left(key);
    await this.#flushed(durable);
    return result;
  }

  async move(key: EntryKey, move: Move): Promise<void> {
    refuseIllegalMove(key, move);
    const { from, step, orderId = null } = move;
    const text = formatStep(step);
    const open = openStateAfter(move);
    const look = step.status === 'unknown' ? formatLookup(createFirstLookup(step.atMs)) : null;
    const { durable } = this.#file.execute(() => {
      const seq = this.#numberOf(key);
      if (seq === null) throw createConflict(key, move);
      const moved = [from, step.status, step.atMs, text, orderId, open, look];
      const { changes } = this.#statements.move.run(seq, ...moved, key.account, key.signalId);
      // The actual status is read in the same transaction, so that the error is consistent.
      if (changes === 0) throw createConflict(key, move, this.#readRow(key));
    });
    if (from === 'accepted') this.#watch?.left(key);
    await this.#flushed(durable);
  }

  #numberOf(key: EntryKey): number | null {
    const known = this.#watch?.find(key) ?? this.#statements.numberOf.get(key.account, key.signalId);
    return known === undefined ? null : Number(known.seq);
  }

  async closeOrder({ account, signalId }: EntryKey): Promise<void> {
    await this.#file.write(() => this.#statements.closeOrder.run(account, signalId));
  }

  async read(key: EntryKey): Promise<Entry | null> {
    const entry = this.#file.read(() => this.#find(key));
    await this.#file.flushed();
    return entry;
  }

  async readDue(key: DueKey, mostEarlier: number): Promise<Due> {
    const { account, market } = key;
    const known = this.#watch?.find(key) ?? null;
    const entry = known?.stored ?? this.#file.read(() => this.#find(key));
    const mayHaveEarlier = entry?.status === 'accepted' && known?.isOldest !== true;
    const waiting = mayHaveEarlier ? await this.#lists.waiting(account, market, mostEarlier) : [];
    return { entry, earlier: listBefore(key, waiting), pause: await this.readPause(account) };
  }

  findByPrefix(account: string, prefix: string, limit: number): Promise<readonly Entry[]> {
    return this.#lists.findByPrefix(account, prefix, limit);
  }

  list(query: EntryQuery): Promise<EntryPage> {
    return this.#lists.list(query);
  }

  waiting(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    return this.#lists.waiting(account, market, limit);
  }

  openOrders(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    return this.#lists.openOrders(account, market, limit);
  }

  findOrder(account: string, market: string, orderId: number): Promise<Entry | null> {
    return this.#lists.findOrder(account, market, orderId);
  }

  dueLookups(nowMs: number, limit: number): Promise<readonly Entry[]> {
    return this.#lists.dueLookups(nowMs, limit);
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

  readPause(account: string): Promise<Pause | null> {
    return this.#pauses.read(account);
  }

  writePause(account: string, pause: Pause | null): Promise<void> {
    return this.#pauses.write(account, pause);
  }

  pauseRunning(account: string, pause: Pause): Promise<boolean> {
    return this.#pauses.begin(account, pause);
  }

  #find(key: EntryKey): Entry | null {
    const row = this.#readRow(key);
    return row === undefined ? null : entryOf(row);
  }

  #readRow({ account, signalId }: EntryKey): EntryRow | undefined {
    return this.#statements.read.get(account, signalId) as unknown as EntryRow | undefined;
  }
}
