import { type DynamodbClient, type Item, textAttribute } from '../base/dynamodb.ts';
import { QueriedTable } from '../base/dynamodb-queries.ts';
import { parseOwnJson } from '../base/json.ts';
import { dayMs } from '../base/time-zone.ts';
import { type Execution, type Fill, isOwnOrderOpen } from '../model/execution.ts';
import {
  entriesOf,
  entryOrDamaged,
  expiryAttribute,
  expiryOf,
  fillKeyItem,
  fillPrefix,
  followedPlace,
  followedPrefix,
  indexes,
  keyItem,
  longestKept,
} from './dynamodb-items.ts';
import type { Entry, EntryKey } from './entry.ts';
import { type Executions, type FillPage, type FillQuery, refuseCursor } from './executions.ts';

export interface DynamodbExecutionsOptions {
  readonly client: DynamodbClient;
  readonly tableName: string;
  /** Entries may be deleted after this many days; fills after 400, if that is later. */
  readonly keepDays: number;
}

/**
 * Keeps fills as items of the ledger's table. They are written before the entry: after a crash in between, the next run
 * writes the same items again.
 */
export function createDynamodbExecutions({ keepDays, ...place }: DynamodbExecutionsOptions): Executions {
  return new DynamodbExecutions(
    new QueriedTable({ ...place, contents: 'what became of the orders' }),
    keepDays,
  );
}

class DynamodbExecutions implements Executions {
  readonly #table: QueriedTable;
  readonly #keepDays: number;

  constructor(table: QueriedTable, keepDays: number) {
    this.#table = table;
    this.#keepDays = keepDays;
  }

  /**
   * One query for both: markets are named in capitals and digits, which sort before the prefix of ended orders. Between
   * them are cancellations that are being sent; waiting signals come after them.
   */
  async followed(account: string, limit: number): Promise<readonly Entry[]> {
    const items: Item[] = [];
    const query = {
      IndexName: indexes.openOrders,
      KeyConditionExpression: '#account = :account AND #openOrder BETWEEN :first AND :last',
      ExpressionAttributeValues: {
        ':account': { S: account },
        ':first': { S: '0' },
        ':last': { S: `${followedPrefix}~` },
      },
      ConsistentRead: true,
      Limit: limit,
    };
    for await (const item of this.#table.queryAll(query))
      if (textAttribute(item, 'status') === 'placed' && items.push(item) === limit) break;
    await Promise.all(
      items
        .filter(mayExpire)
        .slice(0, mostKept)
        .map((item) => this.#keep(entryOrDamaged(item))),
    );
    return [...entriesOf(items)].sort((one, other) => one.createdAtMs - other.createdAtMs);
  }

  async record(key: EntryKey, execution: Execution, fills: readonly Fill[]): Promise<boolean> {
    for (const fill of fills) await this.#addFill(fill, 'fill');
    const { revision, isFollowed } = execution;
    const text = JSON.stringify(execution);
    const isOpen = isOwnOrderOpen(execution);
    const place: Item =
      isOpen || !isFollowed ? {} : { ':place': { S: followedPlace(key, execution.readAtMs) } };
    const expiresAt = expiryOf('placed', execution.readAtMs, this.#keepDays, isOpen);
    const expiry: Item = isFollowed ? {} : { ':expiry': { N: String(expiresAt) } };
    const seen: Item = revision === 1 ? {} : { ':seen': { N: String(revision - 1) } };
    const written = await this.#table.update({
      Key: keyItem(key),
      set: `SET #execution = :execution, #revision = :revision${restExpression(isOpen, isFollowed)}`,
      condition: `#status = :placed AND ${revision === 1 ? 'attribute_not_exists(#revision)' : '#revision = :seen'}`,
      values: {
        ':placed': { S: 'placed' },
        ':execution': { S: text },
        ':revision': { N: String(revision) },
        ...seen,
        ...place,
        ...expiry,
      },
    });
    // If the response to a write is lost, the retry conflicts with its own earlier write.
    return written.done || (written.found !== null && written.found['execution']?.S === text);
  }

  async recordOthers(fills: readonly Fill[]): Promise<void> {
    for (const fill of fills) await this.#addFill(fill, 'otherDeal');
  }

  /**
   * The functions that follow orders may update items, not put them. A deal of no signal has an attribute of its own, so
   * that the fill of a signal takes its place without a condition.
   */
  async #addFill(fill: Fill, attribute: 'fill' | 'otherDeal'): Promise<void> {
    // Kept as long as an open order: what a later sale closes counts with its cost.
    const expiresAt = expiryOf('placed', fill.atMs, this.#keepDays, true);
    await this.#table.update({
      Key: fillKeyItem(fill),
      set: `SET #${attribute} = if_not_exists(#${attribute}, :fill), #${expiryAttribute} = :expiry`,
      values: { ':fill': { S: JSON.stringify(fill) }, ':expiry': { N: String(expiresAt) } },
    });
  }

  /** Takes the time of deletion from a followed entry. If it fails, the next reading does it. */
  async #keep(key: EntryKey): Promise<void> {
    const kept = {
      Key: keyItem(key),
      set: `REMOVE #${expiryAttribute}`,
      // Another process may have stored meanwhile that it is not followed any more.
      condition: 'attribute_exists(#openOrder)',
    };
    await this.#table.update(kept).catch(() => undefined);
  }

  keptFromMs(nowMs: number): number {
    return nowMs - longestKept(this.#keepDays) * dayMs;
  }

  async listFills({ account, fromMs, untilMs, limit, cursor }: FillQuery): Promise<FillPage> {
    const items = await this.#table.queryUpTo(limit + 1, {
      KeyConditionExpression: '#account = :account AND #item BETWEEN :from AND :until',
      ExpressionAttributeValues: {
        ':account': { S: account },
        ':from': { S: cursor === undefined ? fillPrefix(fromMs) : parseCursor(cursor) },
        // It sorts before the fills at that time.
        ':until': { S: fillPrefix(untilMs) },
      },
      ConsistentRead: true,
    });
    const next = items[limit];
    return {
      fills: items
        .slice(0, limit)
        .map((item) => parseOwnJson<Fill>(item['fill']?.S ?? textAttribute(item, 'otherDeal'))),
      next: next === undefined ? null : Buffer.from(textAttribute(next, 'item')).toString('base64url'),
    };
  }
}

/** What is followed is never deleted: what protects a position is decided by it, however long that is held. */
function restExpression(isOpen: boolean, isFollowed: boolean): string {
  const place = isOpen || !isFollowed ? '' : ', #openOrder = :place';
  if (isFollowed) return `${place} REMOVE #${expiryAttribute}`;
  return `, #${expiryAttribute} = :expiry${isOpen ? '' : ' REMOVE #openOrder'}`;
}

/** How many entries one reading keeps: it must not hold up an order. */
const mostKept = 25;

/**
 * Whether a followed entry has a time of deletion all the same: a release of before gave it one. One that nobody has read
 * yet may have it: where the exchange lists no fills, nobody ever will.
 */
function mayExpire(item: Item): boolean {
  return item[expiryAttribute] !== undefined && item['execution'] !== undefined;
}

/** @returns the key of the fill with which the page begins */
function parseCursor(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString();
  return /^fill#\d{15}#\w+#\d+#\d+$/.test(key) ? key : refuseCursor(cursor);
}
