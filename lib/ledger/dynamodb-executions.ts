import { type DynamodbClient, type Item, textAttribute } from '../base/dynamodb.ts';
import { QueriedTable } from '../base/dynamodb-queries.ts';
import { parseOwnJson } from '../base/json.ts';
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
} from './dynamodb-items.ts';
import type { Entry, EntryKey } from './entry.ts';
import { type Executions, type FillPage, type FillQuery, refuseCursor } from './executions.ts';

export interface DynamodbExecutionsOptions {
  readonly client: DynamodbClient;
  readonly tableName: string;
  /** Entries and fills may be deleted after this many days. */
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
    return [...entriesOf(items)].sort((one, other) => one.createdAtMs - other.createdAtMs);
  }

  async record(key: EntryKey, execution: Execution, fills: readonly Fill[]): Promise<boolean> {
    for (const fill of fills) await this.#addFill(fill, 'fill');
    const { revision, isFollowed } = execution;
    const text = JSON.stringify(execution);
    const isOpen = isOwnOrderOpen(execution);
    const place: Item =
      isOpen || !isFollowed ? {} : { ':place': { S: followedPlace(key, execution.readAtMs) } };
    const seen: Item = revision === 1 ? {} : { ':seen': { N: String(revision - 1) } };
    const written = await this.#table.update({
      Key: keyItem(key),
      set: `SET #execution = :execution, #revision = :revision${placeExpression(isOpen, isFollowed)}`,
      condition: `#status = :placed AND ${revision === 1 ? 'attribute_not_exists(#revision)' : '#revision = :seen'}`,
      values: {
        ':placed': { S: 'placed' },
        ':execution': { S: text },
        ':revision': { N: String(revision) },
        ...seen,
        ...place,
      },
    });
    if (written.done) await this.#expire(key, written.item);
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
    const expiresAt = Math.ceil(fill.atMs / 1000) + this.#keepDays * 86_400;
    await this.#table.update({
      Key: fillKeyItem(fill),
      set: `SET #${attribute} = if_not_exists(#${attribute}, :fill), #${expiryAttribute} = :expiry`,
      values: { ':fill': { S: JSON.stringify(fill) }, ':expiry': { N: String(expiresAt) } },
    });
  }

  /** The time of deletion is earlier once nothing is followed. */
  async #expire(key: EntryKey, item: Item): Promise<void> {
    const { status, updatedAtMs } = entryOrDamaged(item);
    const mayChange = item['openOrder'] !== undefined;
    const expiresAt = expiryOf(status, updatedAtMs, this.#keepDays, mayChange);
    if (expiresAt === null || item[expiryAttribute]?.N === String(expiresAt)) return;
    await this.#table.update({
      Key: keyItem(key),
      set: `SET #${expiryAttribute} = :expiry`,
      condition: 'attribute_exists(#account)',
      values: { ':expiry': { N: String(expiresAt) } },
    });
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

function placeExpression(isOpen: boolean, isFollowed: boolean): string {
  if (isOpen) return '';
  return isFollowed ? ', #openOrder = :place' : ' REMOVE #openOrder';
}

/** @returns the key of the fill with which the page begins */
function parseCursor(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString();
  return /^fill#\d{15}#\w+#\d+#\d+$/.test(key) ? key : refuseCursor(cursor);
}
