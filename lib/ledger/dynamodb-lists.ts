import { formatTime, type Item, textAttribute } from '../base/dynamodb.ts';
import type { QueriedTable } from '../base/dynamodb-queries.ts';
import {
  entriesOf,
  formatCursor,
  indexes,
  keyItem,
  openOrderPrefix,
  parseCursor,
  signalKind,
  waitingPrefix,
} from './dynamodb-items.ts';
import type { Entry } from './entry.ts';
import { type EntryPage, type EntryQuery, isLookupDue } from './ledger.ts';

/** Lists entries; the cost of a page grows with its size only. */
export class DynamodbLists {
  readonly #table: QueriedTable;

  constructor(table: QueriedTable) {
    this.#table = table;
  }

  async list(query: EntryQuery): Promise<EntryPage> {
    const { status, account, limit } = query;
    // One entry more than the limit shows whether there is another page.
    const { items, next } = await this.#queryPlaces({ ...query, limit: limit + 1 });
    const page = items.slice(0, limit);
    const last = page.at(-1);
    const asked = page.filter((item) => account === undefined || textAttribute(item, 'account') === account);
    const found = await this.#table.getMany(asked.map(keyOf));
    // The index may lag behind; the entries do not.
    const listed = found.filter((item) => status === undefined || textAttribute(item, 'status') === status);
    return {
      entries: entriesOf(listed),
      cursors: listed.map((item) => formatCursor(textAttribute(item, 'place'))),
      next:
        last !== undefined && (items.length > limit || next !== null)
          ? formatCursor(textAttribute(last, 'place'))
          : null,
    };
  }

  async waiting(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    return entriesOf(await this.waitingItems(account, market, limit));
  }

  waitingItems(account: string, market: string, limit: number): Promise<readonly Item[]> {
    return this.#queryOpenOrders(account, waitingPrefix(market), { limit, oldestFirst: true });
  }

  async openOrders(account: string, market: string, limit: number): Promise<readonly Entry[]> {
    const page = { limit, oldestFirst: false };
    return entriesOf(await this.#queryOpenOrders(account, openOrderPrefix(market), page));
  }

  async dueLookups(nowMs: number, limit: number): Promise<readonly Entry[]> {
    const items = [
      ...(await this.#queryLookups('<=', nowMs, limit)),
      // Few wait for their next lookup: what a clock that was set back has postponed is among them.
      ...(await this.#queryLookups('>', nowMs, limit)),
    ];
    const entries = entriesOf(await this.#table.getMany(items.map(keyOf)));
    // The index may be outdated: a lookup or an outcome may have
    // followed. Damaged progress is due until it is repaired.
    const due = entries.filter((entry) => entry.status === 'unknown' && isLookupDue(entry, nowMs));
    return due.slice(0, limit);
  }

  async #queryLookups(relation: '<=' | '>', dueAtMs: number, limit: number): Promise<readonly Item[]> {
    const { items } = await this.#table.query({
      IndexName: indexes.byLook,
      KeyConditionExpression: `#status = :unknown AND #lookDueAtMs ${relation} :due`,
      ExpressionAttributeValues: { ':unknown': { S: 'unknown' }, ':due': { N: String(dueAtMs) } },
      Limit: limit,
    });
    return items;
  }

  async findByPrefix(account: string, prefix: string, limit: number): Promise<readonly Entry[]> {
    const { item = { S: '' } } = keyItem({ account, signalId: prefix });
    const { items } = await this.#table.query({
      KeyConditionExpression: '#account = :account AND begins_with(#item, :prefix)',
      ExpressionAttributeValues: { ':account': { S: account }, ':prefix': item },
      ConsistentRead: true,
      Limit: limit,
    });
    return entriesOf(items);
  }

  #queryOpenOrders(
    account: string,
    prefix: string,
    page: { readonly limit: number; readonly oldestFirst: boolean },
  ): Promise<readonly Item[]> {
    return this.#table.queryUpTo(page.limit, {
      IndexName: indexes.openOrders,
      KeyConditionExpression: '#account = :account AND begins_with(#openOrder, :prefix)',
      ExpressionAttributeValues: { ':account': { S: account }, ':prefix': { S: prefix } },
      ConsistentRead: true,
      ScanIndexForward: page.oldestFirst,
    });
  }

  #queryPlaces({ status, account, limit, cursor, startMs, oldestFirst = false }: EntryQuery) {
    const start =
      cursor !== undefined ? parseCursor(cursor) : startMs !== undefined ? formatTime(startMs) : null;
    const beyond = start === null ? '' : ` AND #place ${oldestFirst ? '>' : '<'} :start`;
    const [index, key, value] =
      status !== undefined
        ? ([indexes.byStatus, '#status', status] as const)
        : account !== undefined
          ? ([indexes.byAccount, '#account', account] as const)
          : ([indexes.byTime, '#kind', signalKind] as const);
    return this.#table.query({
      IndexName: index,
      KeyConditionExpression: `${key} = :which${beyond}`,
      ExpressionAttributeValues: {
        ':which': { S: value },
        ...(start === null ? {} : { ':start': { S: start } }),
      },
      ScanIndexForward: oldestFirst,
      Limit: limit,
    });
  }
}

function keyOf({ account, item }: Item): Item {
  return { account: account ?? { NULL: true }, item: item ?? { NULL: true } };
}
