import { randomUUID } from 'node:crypto';
import { type DynamodbClient, type Item, textAttribute } from '../base/dynamodb.ts';
import { type ConditionalPut, DynamodbTable, isNew } from '../base/dynamodb-table.ts';
import { RelayError } from '../base/errors.ts';
import { createAcceptedEntry, createRefusedEntry } from './create-entry.ts';
import { DynamodbArrivals } from './dynamodb-arrivals.ts';
import { entryOf, expiryAttribute, expiryOf, itemOf, keyItem, messageAttributes } from './dynamodb-items.ts';
import { MinuteCount } from './dynamodb-minute.ts';
import { recogniseOwn } from './dynamodb-move.ts';
import type { Entry, EntryKey, ReceivedMessage } from './entry.ts';
import type {
  Accepted,
  LedgerEntrance,
  MinuteLimit,
  NewEntry,
  RefusedEntry,
  StoredSignal,
} from './ledger.ts';
import { isOtherAlert } from './ledger-rules.ts';

/**
 * After a conflict with a copy of the same alert, its stored
 * entries are read; this many conflicts in a row are a failure.
 */
const maximumTries = 10;

/** @see DECISIONS 16 */
export interface DynamodbLedgerOptions {
  readonly client: DynamodbClient;
  readonly tableName: string;
  /** How many days an entry is kept once its status is final. */
  readonly keepDays: number;
}

/**
 * The part of the DynamoDB ledger that receive-signal needs;
 * it is separate to keep that function's bundle small.
 */
export function createDynamodbEntrance({
  client,
  tableName,
  keepDays,
}: DynamodbLedgerOptions): LedgerEntrance {
  return new DynamodbEntrance(new DynamodbTable({ client, tableName, contents: 'the ledger' }), keepDays);
}

/** Adds new entries to the table: all entries of an alert, or none. */
export class DynamodbEntrance implements LedgerEntrance {
  readonly #table: DynamodbTable;
  readonly #keepDays: number;
  readonly #signals: MinuteCount;
  readonly #byArrival: DynamodbArrivals;
  #arrivals = 0;

  constructor(table: DynamodbTable, keepDays: number) {
    this.#table = table;
    this.#keepDays = keepDays;
    this.#signals = new MinuteCount(table, 'signals-of-a-minute');
    this.#byArrival = new DynamodbArrivals(table);
  }

  async accept(newEntries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted> {
    const [first] = newEntries;
    if (first?.isByArrival === true) return await this.#acceptByArrival(first, newEntries, limit);
    const accepted = await this.#acceptNew(newEntries, limit);
    if (accepted !== null) return accepted;
    // A resend does not count against the limit, so what was stored before is read first.
    let found = await this.#readAll(newEntries);
    for (let tries = 0; tries < maximumTries; tries += 1) {
      const taken = found.find(
        (entry, index) => entry !== null && isOtherAlert(newEntries[index] as NewEntry, entry),
      );
      if (taken) return { result: 'id_taken', by: taken };
      const fresh = newEntries.filter((_, index) => found[index] === null);
      const place = await this.#signals.take(fresh, newEntries[0]?.atMs ?? 0, limit);
      if (!place.free) return { result: 'over_limit', count: place.count };
      const created = fresh.map(createOf);
      if (await this.#create(created)) return { result: 'stored', signals: storedOf(created, found) };
      found = await this.#readAll(newEntries);
    }
    throw createTooManyCopies();
  }

  /** Copies that arrive at the same time meet at the item of their bytes. */
  async #acceptByArrival(
    first: NewEntry,
    newEntries: readonly NewEntry[],
    limit: MinuteLimit | null,
  ): Promise<Accepted> {
    const writer = randomUUID();
    const signalIds = newEntries.map(({ signalId }) => signalId);
    for (let tries = 0; tries < maximumTries; tries += 1) {
      const seen = await this.#byArrival.read(first);
      const earlierIds = this.#byArrival.listEarlier(seen, first);
      const earlier = await this.#readAll(earlierIds.map((signalId) => ({ ...first, signalId })));
      const known = earlier.filter((entry) => entry !== null);
      if (known.length > 0)
        return { result: 'stored', signals: known.map((entry) => ({ entry, isNew: false })) };
      const place = await this.#signals.take(newEntries, first.atMs, limit);
      if (!place.free) return { result: 'over_limit', count: place.count };
      const created = newEntries.map(createOf);
      const arrival = this.#byArrival.putOf(seen, first, signalIds, writer);
      if (await this.#putAll([...this.#putsOf(created, writer), arrival], writer))
        return { result: 'stored', signals: created.map(({ entry }) => ({ entry, isNew: true })) };
    }
    throw createTooManyCopies();
  }

  /**
   * The usual case, without a look at what is stored: none of the signals was stored or counted before.
   *
   * @returns null when that is not so; then nothing was stored, and nothing is counted
   */
  async #acceptNew(newEntries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted | null> {
    const atMs = newEntries[0]?.atMs ?? 0;
    const version = await this.#signals.takeNew(newEntries, atMs, limit);
    if (version === null) return null;
    const created = newEntries.map(createOf);
    if (await this.#create(created))
      return { result: 'stored', signals: created.map(({ entry }) => ({ entry, isNew: true })) };
    await this.#signals.giveBack(newEntries, version, limit);
    return null;
  }

  async refuse(refused: RefusedEntry): Promise<void> {
    const { message, ...entry } = refused;
    await this.#create([{ entry: createRefusedEntry(entry), message }]);
  }

  async read(key: EntryKey): Promise<Entry | null> {
    const item = await this.#table.get(keyItem(key));
    return item === null ? null : entryOf(item);
  }

  /** Creates all entries or none. @returns false when one of them existed already; then none was created */
  async #create(entries: readonly Created[]): Promise<boolean> {
    const writer = randomUUID();
    const puts = this.#putsOf(entries, writer);
    const [only] = puts;
    if (only === undefined) return true;
    // A transaction costs twice as much as a single write.
    if (puts.length === 1) return recogniseOwn(await this.#table.putIf(only), writer).done;
    return await this.#putAll(puts, writer);
  }

  #putsOf(entries: readonly Created[], writer: string): readonly ConditionalPut[] {
    return entries.map((entry) => ({ item: this.#itemOf(entry, writer), condition: isNew }));
  }

  /** If the response to a write is lost, the retry conflicts with its own earlier write, which succeeded. */
  async #putAll(puts: readonly ConditionalPut[], writer: string): Promise<boolean> {
    const written = await this.#table.putAll(puts);
    return (
      written.done || written.found.some((item) => item !== null && textAttribute(item, 'writer') === writer)
    );
  }

  async #readAll(keys: readonly EntryKey[]): Promise<readonly (Entry | null)[]> {
    const items = await this.#table.getMany(keys.map(keyItem));
    const entries = new Map(items.map((item) => [textAttribute(item, 'item'), entryOf(item)]));
    return keys.map(({ signalId }) => entries.get(`signal#${signalId}`) ?? null);
  }

  #itemOf({ entry, message }: Created, writer: string): Item {
    this.#arrivals += 1;
    const expiresAt = expiryOf(entry.status, entry.updatedAtMs, this.#keepDays, false);
    return {
      ...itemOf(entry, this.#arrivals),
      ...messageAttributes(message),
      writer: { S: writer },
      ...(expiresAt === null ? {} : { [expiryAttribute]: { N: String(expiresAt) } }),
    };
  }
}

/** A new entry, and what its alert said. */
interface Created {
  readonly entry: Entry;
  readonly message: ReceivedMessage | undefined;
}

function createOf(newEntry: NewEntry): Created {
  return { entry: createAcceptedEntry(newEntry), message: newEntry.message };
}

/** Every signal of the alert, in the alert's order; `found` has null for those that were created. */
function storedOf(created: readonly Created[], found: readonly (Entry | null)[]): readonly StoredSignal[] {
  const fresh = created.values();
  return found.map((entry) =>
    entry === null ? { entry: (fresh.next().value as Created).entry, isNew: true } : { entry, isNew: false },
  );
}

function createTooManyCopies(): RelayError {
  return new RelayError(
    'store_unavailable',
    'the alert could not be stored: too many copies of it arrive at the same time',
  );
}
