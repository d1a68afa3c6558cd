import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Item, numberOf, textOf } from '../base/dynamodb.ts';
import {
  entryOf,
  expiryAttribute,
  expiryOf,
  formatCursor,
  indexes,
  itemOf,
  keyItem,
  openOrderPrefix,
  parseCursor,
  signalKind,
} from './dynamodb-items.ts';
import { MinuteCount } from './dynamodb-minute.ts';
import { recogniseOwn, updateOf } from './dynamodb-move.ts';
import { queryRefusals } from './dynamodb-refusals.ts';
import { DynamodbTable, type Written } from './dynamodb-table.ts';
import type { Entry, EntryKey, Look, Step } from './entry.ts';
import {
  type Accepted,
  createAcceptedEntry,
  createConflict,
  createRefusedEntry,
  type EntryPage,
  type EntryQuery,
  type Ledger,
  type MinuteLimit,
  type Move,
  type NewEntry,
  type Pause,
  type RefusedEntry,
  refuseIllegalMove,
  type Started,
} from './ledger.ts';

/**
 * The ledger on DynamoDB: every change of an entry is one conditional write.
 *
 * @param options `keepDays`: how long an entry is kept once nothing can become of it any more
 */
export function createDynamodbLedger(options: {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly keepDays: number;
}): Ledger {
  return new DynamodbLedger(new DynamodbTable(options.client, options.tableName), options.keepDays);
}

class DynamodbLedger implements Ledger {
  readonly #table: DynamodbTable;
  readonly #keepDays: number;
  readonly #signals: MinuteCount;
  readonly #orders: MinuteCount;
  #arrivals = 0;

  constructor(table: DynamodbTable, keepDays: number) {
    this.#table = table;
    this.#keepDays = keepDays;
    this.#signals = new MinuteCount(table, 'signals-of-a-minute');
    this.#orders = new MinuteCount(table, 'orders-of-a-minute');
  }

  async accept(newEntry: NewEntry, limit: MinuteLimit | null): Promise<Accepted> {
    // A resend takes no place of the minute, so it is told apart first.
    const existing = await this.read(newEntry);
    if (existing !== null) return { result: 'exists', entry: existing };
    const place = await this.#signals.take(newEntry, newEntry.atMs, limit);
    if (!place.free) return { result: 'over_limit', count: place.count };
    const entry = createAcceptedEntry(newEntry);
    const written = await this.#create(entry);
    if (written.done) return { result: 'created', entry };
    return { result: 'exists', entry: entryOf(written.found ?? {}) };
  }

  async refuse(refused: RefusedEntry): Promise<void> {
    await this.#create(createRefusedEntry(refused));
  }

  async start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started> {
    const move: Move = { from: 'accepted', step };
    const entry = await this.read(key);
    if (entry === null) throw createConflict(key, move, null);
    if (entry.status !== 'accepted') return { result: 'conflict', entry };
    if (entry.clientOrderId !== null) {
      const place = await this.#orders.take(key, step.atMs, limit);
      if (!place.free) return { result: 'over_limit', count: place.count };
    }
    const written = await this.#advance(key, move);
    if (written.done) return { result: 'started' };
    if (written.found === null) throw createConflict(key, move, null);
    return { result: 'conflict', entry: entryOf(written.found) };
  }

  async move(key: EntryKey, move: Move): Promise<Entry> {
    refuseIllegalMove(key, move);
    if (move.step.status === 'sending') await this.#countOrder(key, move.step.atMs);
    const written = await this.#advance(key, move);
    if (!written.done) throw createConflict(key, move, written.found && entryOf(written.found));
    return await this.#expire(written.item);
  }

  async closeOrder(key: EntryKey): Promise<void> {
    const written = await this.#table.update({
      Key: keyItem(key),
      set: 'REMOVE #openOrder',
      condition: 'attribute_exists(#openOrder)',
    });
    if (written.done) await this.#expire(written.item);
  }

  async read(key: EntryKey): Promise<Entry | null> {
    const item = await this.#table.get(keyItem(key));
    return item === null ? null : entryOf(item);
  }

  readRefusals(account: string, alertId: string): Promise<readonly Entry[]> {
    return queryRefusals(this.#table, account, alertId);
  }

  async list(query: EntryQuery): Promise<EntryPage> {
    const { status, limit } = query;
    // One more than asked for tells whether there is another page.
    const { items, next } = await this.#queryPlaces({ ...query, limit: limit + 1 });
    const page = items.slice(0, limit);
    const last = page.at(-1);
    const entries = (await this.#table.getMany(page.map(keyOf))).map(entryOf);
    return {
      // The index may lag behind; the entries do not.
      entries: entries.filter((entry) => status === undefined || entry.status === status),
      next:
        last !== undefined && (items.length > limit || next !== null)
          ? formatCursor(textOf(last, 'place'))
          : null,
    };
  }

  async openOrders(account: string, market: string): Promise<readonly Entry[]> {
    const items = await this.#table.queryAll({
      IndexName: indexes.openOrders,
      KeyConditionExpression: '#account = :account AND begins_with(#openOrder, :prefix)',
      ExpressionAttributeValues: { ':account': { S: account }, ':prefix': { S: openOrderPrefix(market) } },
      ConsistentRead: true,
    });
    return items.map(entryOf);
  }

  async dueLooks(nowMs: number, limit: number): Promise<readonly Entry[]> {
    const { items } = await this.#table.query({
      IndexName: indexes.byLook,
      KeyConditionExpression: '#status = :unknown AND #lookDueAtMs <= :now',
      ExpressionAttributeValues: { ':unknown': { S: 'unknown' }, ':now': { N: String(nowMs) } },
      Limit: limit,
    });
    const entries = (await this.#table.getMany(items.map(keyOf))).map(entryOf);
    // The index may lag behind a look or an end.
    return entries.filter(
      ({ status, look }) => status === 'unknown' && look !== null && look.dueAtMs <= nowMs,
    );
  }

  async postpone(key: EntryKey, seen: Look, look: Look): Promise<boolean> {
    const text = JSON.stringify(look);
    const written = await this.#table.update({
      Key: keyItem(key),
      set: 'SET #look = :look, #lookDueAtMs = :due',
      condition: '#lookDueAtMs = :seen',
      values: {
        ':look': { S: text },
        ':due': { N: String(look.dueAtMs) },
        ':seen': { N: String(seen.dueAtMs) },
      },
    });
    // When an answer is lost, the repeat finds its own write in the way.
    return written.done || (written.found !== null && textOf(written.found, 'look') === text);
  }

  async readPause(account: string): Promise<Pause | null> {
    const item = await this.#table.get(pauseKey(account));
    return item === null ? null : { sinceMs: numberOf(item, 'sinceMs'), reason: textOf(item, 'reason') };
  }

  async writePause(account: string, pause: Pause | null): Promise<void> {
    const key = pauseKey(account);
    if (pause === null) await this.#table.delete(key);
    else
      await this.#table.put({ ...key, sinceMs: { N: String(pause.sinceMs) }, reason: { S: pause.reason } });
  }

  async #create(entry: Entry): Promise<Written> {
    this.#arrivals += 1;
    const writer = randomUUID();
    const expiresAt = expiryOf(entry.status, entry.updatedAtMs, this.#keepDays);
    const item = {
      ...itemOf(entry, this.#arrivals),
      writer: { S: writer },
      ...(expiresAt === null ? {} : { [expiryAttribute]: { N: String(expiresAt) } }),
    };
    return recogniseOwn(await this.#table.create(item), writer);
  }

  /** Counts an order that goes to `sending` by a plain move. */
  async #countOrder(key: EntryKey, atMs: number): Promise<void> {
    const entry = await this.read(key);
    if (entry !== null && entry.clientOrderId !== null) await this.#orders.take(key, atMs, null);
  }

  async #advance(key: EntryKey, move: Move): Promise<Written> {
    const writer = randomUUID();
    return recogniseOwn(await this.#table.update(updateOf(key, move, this.#keepDays, writer)), writer);
  }

  #queryPlaces({ status, limit, cursor, oldestFirst = false }: EntryQuery) {
    const start = cursor === undefined ? null : parseCursor(cursor);
    const beyond = start === null ? '' : ` AND #place ${oldestFirst ? '>' : '<'} :start`;
    return this.#table.query({
      IndexName: status === undefined ? indexes.byTime : indexes.byStatus,
      KeyConditionExpression: `${status === undefined ? '#kind' : '#status'} = :which${beyond}`,
      ExpressionAttributeValues: {
        ':which': { S: status ?? signalKind },
        ...(start === null ? {} : { ':start': { S: start } }),
      },
      ScanIndexForward: oldestFirst,
      Limit: limit,
    });
  }

  /** Has an entry deleted in time that is settled and whose order is closed by now; a crash before it keeps it. */
  async #expire(item: Item): Promise<Entry> {
    const entry = entryOf(item);
    const expiresAt = entry.orderOpen ? null : expiryOf(entry.status, entry.updatedAtMs, this.#keepDays);
    if (expiresAt !== null && item[expiryAttribute] === undefined)
      await this.#table.update({
        Key: keyItem(entry),
        set: `SET #${expiryAttribute} = :expiry`,
        condition: 'attribute_exists(#account)',
        values: { ':expiry': { N: String(expiresAt) } },
      });
    return entry;
  }
}

function keyOf({ account, item }: Item): Item {
  return { account: account ?? { NULL: true }, item: item ?? { NULL: true } };
}

function pauseKey(account: string): Item {
  return { account: { S: account }, item: { S: 'pause' } };
}
