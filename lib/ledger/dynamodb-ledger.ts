import { randomUUID } from 'node:crypto';
import { type Item, numberOf, textAttribute } from '../base/dynamodb.ts';
import { QueriedTable } from '../base/dynamodb-queries.ts';
import type { Written } from '../base/dynamodb-table.ts';
import { boundLookup } from './bound-step.ts';
import { DynamodbEntrance, type DynamodbLedgerOptions } from './dynamodb-entrance.ts';
import {
  anyWaitingPrefix,
  entriesOf,
  entryOf,
  entryOrDamaged,
  expiryAttribute,
  expiryOf,
  followedPlace,
  keyItem,
  messageOf,
  openOrderPrefix,
  orderKeyItem,
  pauseName,
} from './dynamodb-items.ts';
import { DynamodbLists } from './dynamodb-lists.ts';
import { MinuteCount } from './dynamodb-minute.ts';
import { recogniseOwn, updateOf } from './dynamodb-move.ts';
import type { Entry, EntryKey, LookupProgress, ReceivedMessage, Step } from './entry.ts';
import {
  type Accepted,
  type Due,
  type DueKey,
  type EntryPage,
  type EntryQuery,
  type Ledger,
  type MinuteLimit,
  type Move,
  type NewEntry,
  type Pause,
  pauseKindOf,
  type RefusedEntry,
  type Started,
} from './ledger.ts';
import { createConflict, listBefore, refuseIllegalMove } from './ledger-rules.ts';
import { formatLookup } from './stored-entry.ts';

/** Creates the ledger on DynamoDB, where every change of an entry is one conditional write. */
export function createDynamodbLedger({ client, tableName, keepDays }: DynamodbLedgerOptions): Ledger {
  return new DynamodbLedger(new QueriedTable({ client, tableName, contents: 'the ledger' }), keepDays);
}

class DynamodbLedger implements Ledger {
  readonly #table: QueriedTable;
  readonly #keepDays: number;
  readonly #entrance: DynamodbEntrance;
  readonly #lists: DynamodbLists;
  readonly #orders: MinuteCount;

  constructor(table: QueriedTable, keepDays: number) {
    this.#table = table;
    this.#keepDays = keepDays;
    this.#entrance = new DynamodbEntrance(table, keepDays);
    this.#lists = new DynamodbLists(table);
    this.#orders = new MinuteCount(table, 'orders-of-a-minute');
  }

  accept(entries: readonly NewEntry[], limit: MinuteLimit | null): Promise<Accepted> {
    return this.#entrance.accept(entries, limit);
  }

  refuse(refused: RefusedEntry): Promise<void> {
    return this.#entrance.refuse(refused);
  }

  async start(key: EntryKey, step: Step, limit: MinuteLimit | null): Promise<Started> {
    const move: Move = { from: 'accepted', step, orderOpen: true };
    // Counted without a look at the entry: should it have left `accepted`, its order has this place already.
    const place = await this.#orders.take([key], step.atMs, limit);
    if (!place.free) return await this.#refuseStart(key, move, place.count);
    const written = await this.#advance(key, move);
    if (written.done) return { result: 'started' };
    if (written.found === null) throw createConflict(key, move);
    return { result: 'conflict', entry: entryOf(written.found) };
  }

  /** The minute has no place for an order; an entry that is no longer `accepted` needs none. */
  async #refuseStart(key: EntryKey, move: Move, count: number): Promise<Started> {
    const entry = await this.read(key);
    if (entry === null) throw createConflict(key, move);
    return entry.status === 'accepted' ? { result: 'over_limit', count } : { result: 'conflict', entry };
  }

  async move(key: EntryKey, move: Move): Promise<void> {
    refuseIllegalMove(key, move);
    const written = await this.#advance(key, move);
    if (!written.done) throw createConflict(key, move, statusIn(written.found));
    if (move.orderId !== undefined) await this.#mapOrderId(key, move.orderId, move.step.atMs);
    await this.#expire(written.item);
  }

  async closeOrder(key: EntryKey): Promise<void> {
    const followed = await this.#table.update({
      Key: keyItem(key),
      set: 'SET #openOrder = :followed',
      condition: '#status = :placed AND #openOrder = #orderPlace',
      values: { ':placed': { S: 'placed' }, ':followed': { S: followedPlace(key, 0) } },
    });
    if (followed.done || followed.found?.['status']?.S === 'placed') return;
    const written = await this.#table.update({
      Key: keyItem(key),
      set: 'REMOVE #openOrder',
      // A waiting signal has no order to close.
      condition: 'attribute_exists(#openOrder) AND NOT begins_with(#openOrder, :waiting)',
      values: { ':waiting': { S: anyWaitingPrefix } },
    });
    if (written.done) await this.#expire(written.item);
  }

  read(key: EntryKey): Promise<Entry | null> {
    return this.#entrance.read(key);
  }

  async readMessage(key: EntryKey): Promise<ReceivedMessage | null> {
    const item = await this.#table.get(keyItem(key));
    return item === null ? null : messageOf(item);
  }

  async readDue({ market, ...key }: DueKey, mostEarlier: number): Promise<Due> {
    const [waiting, pause] = await Promise.all([
      this.#lists.waitingItems(key.account, market, mostEarlier),
      this.readPause(key.account),
    ]);
    const { item: { S: name } = {} } = keyItem(key);
    const own = waiting.find((item) => textAttribute(item, 'item') === name);
    // A signal that does not wait was executed before, or more signals wait before it than one page has.
    const entry = own === undefined ? await this.read(key) : entryOf(own);
    const earlier = entry?.status === 'accepted' ? listBefore(key, entriesOf(waiting)) : [];
    return { entry, earlier, pause };
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

  dueLookups(nowMs: number, limit: number): Promise<readonly Entry[]> {
    return this.#lists.dueLookups(nowMs, limit);
  }

  async findOrder(account: string, market: string, orderId: number): Promise<Entry | null> {
    const mapping = await this.#table.get(orderKeyItem(account, orderId));
    if (mapping === null) return null;
    const item = await this.#table.get(keyItem({ account, signalId: textAttribute(mapping, 'signalId') }));
    if (item === null || !textAttribute(item, 'orderPlace').startsWith(openOrderPrefix(market))) return null;
    const entry = entryOrDamaged(item);
    return entry.orderId === orderId ? entry : null;
  }

  async postpone(key: EntryKey, seen: LookupProgress, lookup: LookupProgress): Promise<boolean> {
    const text = formatLookup(boundLookup(lookup));
    const written = await this.#table.update({
      Key: keyItem(key),
      set: 'SET #look = :look, #lookDueAtMs = :due',
      condition: '#lookDueAtMs = :seen',
      values: {
        ':look': { S: text },
        ':due': { N: String(lookup.dueAtMs) },
        ':seen': { N: String(seen.dueAtMs) },
      },
    });
    // If the response to a write is lost, the retry conflicts with its own earlier write.
    return written.done || (written.found !== null && textAttribute(written.found, 'look') === text);
  }

  async readPause(account: string): Promise<Pause | null> {
    const item = await this.#table.get(pauseKey(account));
    if (item === null) return null;
    const reason = textAttribute(item, 'reason');
    const kind = pauseKindOf(item['kind']?.S ?? null, reason);
    return { sinceMs: numberOf(item, 'sinceMs'), reason, kind };
  }

  async writePause(account: string, pause: Pause | null): Promise<void> {
    const key = pauseKey(account);
    if (pause === null) await this.#table.delete(key);
    else
      await this.#table.put({
        ...key,
        sinceMs: { N: String(pause.sinceMs) },
        reason: { S: pause.reason },
        kind: { S: pause.kind },
      });
  }

  /** An update, because the functions that find a reason to pause may not put items. */
  async pauseRunning(account: string, { sinceMs, reason, kind }: Pause): Promise<boolean> {
    const values = { ':sinceMs': { N: String(sinceMs) }, ':reason': { S: reason }, ':kind': { S: kind } };
    const written = await this.#table.update({
      Key: pauseKey(account),
      set: 'SET #sinceMs = :sinceMs, #reason = :reason, #kind = :kind',
      condition: 'attribute_not_exists(#sinceMs)',
      values,
    });
    // If the response to a write is lost, the retry conflicts with its own earlier write.
    return written.done || written.found?.['sinceMs']?.N === String(sinceMs);
  }

  /**
   * Stores which signal placed the order. It runs after the write of the outcome,
   * which matters more: without this item, the order is still found by its signal.
   * It is an update, because the functions that write outcomes may not put items.
   */
  async #mapOrderId({ account, signalId }: EntryKey, orderId: number, atMs: number): Promise<void> {
    const expiresAt = expiryOf('placed', atMs, this.#keepDays, true);
    const mapping = {
      Key: orderKeyItem(account, orderId),
      set: `SET #signalId = :signalId, #${expiryAttribute} = :expiry`,
      values: { ':signalId': { S: signalId }, ':expiry': { N: String(expiresAt) } },
    };
    await this.#table.update(mapping).catch(() => undefined);
  }

  async #advance(key: EntryKey, move: Move): Promise<Written> {
    const writer = randomUUID();
    return recogniseOwn(await this.#table.update(updateOf(key, move, this.#keepDays, writer)), writer);
  }

  /**
   * Sets the time of deletion, which is earlier once the order
   * is closed. A crash before it only keeps the entry longer.
   */
  async #expire(item: Item): Promise<void> {
    const entry = entryOrDamaged(item);
    const { status, updatedAtMs, orderOpen } = entry;
    const expiresAt = expiryOf(status, updatedAtMs, this.#keepDays, orderOpen);
    if (expiresAt !== null && item[expiryAttribute]?.N !== String(expiresAt))
      await this.#table.update({
        Key: keyItem(entry),
        set: `SET #${expiryAttribute} = :expiry`,
        condition: 'attribute_exists(#account)',
        values: { ':expiry': { N: String(expiresAt) } },
      });
  }
}

function statusIn(item: Item | null): { readonly status: string } | undefined {
  return item === null ? undefined : { status: textAttribute(item, 'status') };
}

function pauseKey(account: string): Item {
  return { account: { S: account }, item: { S: pauseName } };
}
