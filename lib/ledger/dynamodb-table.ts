import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { systemClock } from '../base/clock.ts';
import { type Item, namesIn } from '../base/dynamodb.ts';
import { createStoreFailure } from '../base/store-failure.ts';
import { type Patience, reasonsOf, sendPastTransactions } from './dynamodb-conflict.ts';

/**
 * The result of a conditional write: done, with the new item;
 * or refused, with the item that failed the condition.
 */
export type Written =
  | { readonly done: true; readonly item: Item }
  | { readonly done: false; readonly found: Item | null };

export type CreatedAll =
  | { readonly done: true }
  | { readonly done: false; readonly found: readonly (Item | null)[] };

export type Update = Pick<UpdateItemCommandInput, 'Key'> & {
  readonly set: string;
  /** Absent: unconditional. */
  readonly condition?: string;
  readonly values?: Item;
  /** Attribute names that cannot be derived from the expressions. */
  readonly names?: Record<string, string>;
};

type Query = Pick<
  QueryCommandInput,
  'IndexName' | 'ExpressionAttributeValues' | 'ConsistentRead' | 'ScanIndexForward' | 'Limit'
> & { readonly KeyConditionExpression: string };

/** The maximum of one BatchGetItem. */
const batchSize = 100;

/** The DynamoDB operations that the ledger uses; failures of the service become errors of the catalogue. */
export class DynamodbTable {
  readonly #client: DynamoDBClient;
  readonly #name: string;
  readonly #patience: Patience;

  constructor(
    client: DynamoDBClient,
    name: string,
    patience: Patience = { clock: systemClock, random: Math.random },
  ) {
    this.#client = client;
    this.#name = name;
    this.#patience = patience;
  }

  /** A strongly consistent read: it sees every acknowledged write. */
  async get(key: Item): Promise<Item | null> {
    const command = new GetItemCommand({ TableName: this.#name, Key: key, ConsistentRead: true });
    const { Item: item } = await this.#client.send(command).catch(failReading);
    return item ?? null;
  }

  /** Strongly consistent too, in the order of the keys; missing items are left out. */
  async getMany(keys: readonly Item[]): Promise<readonly Item[]> {
    const found: Item[] = [];
    for (let from = 0; from < keys.length; from += batchSize)
      found.push(...(await this.#getBatch(keys.slice(from, from + batchSize))));
    const byName = new Map(found.map((item) => [nameOf(item), item]));
    return keys.map((key) => byName.get(nameOf(key))).filter((item) => item !== undefined);
  }

  async #getBatch(keys: readonly Item[]): Promise<readonly Item[]> {
    const found: Item[] = [];
    let remaining = [...keys];
    while (remaining.length > 0) {
      const request = { [this.#name]: { Keys: remaining, ConsistentRead: true } };
      const response = await this.#client
        .send(new BatchGetItemCommand({ RequestItems: request }))
        .catch(failReading);
      found.push(...(response.Responses?.[this.#name] ?? []));
      // A response ends at 16 MB and lists the keys it left out.
      remaining = response.UnprocessedKeys?.[this.#name]?.Keys ?? [];
    }
    return found;
  }

  async put(item: Item): Promise<void> {
    await this.#client.send(new PutItemCommand({ TableName: this.#name, Item: item })).catch(failWriting);
  }

  /** Puts the item if its key does not exist. */
  async create(item: Item): Promise<Written> {
    const creation = this.#creationOf(item);
    try {
      await sendPastTransactions(this.#patience, () => this.#client.send(new PutItemCommand(creation)));
      return { done: true, item };
    } catch (error) {
      return refusalOf(error);
    }
  }

  /**
   * Puts all items if none of their keys exists, else none.
   *
   * @returns done; or refused, with the existing item for each key, null for a key that does not exist
   */
  async createAll(items: readonly Item[]): Promise<CreatedAll> {
    const TransactItems = items.map((item) => ({ Put: this.#creationOf(item) }));
    try {
      await sendPastTransactions(this.#patience, () =>
        this.#client.send(new TransactWriteItemsCommand({ TransactItems })),
      );
      return { done: true };
    } catch (error) {
      return refusalOfAll(error);
    }
  }

  #creationOf(item: Item) {
    const condition = 'attribute_not_exists(#account)';
    return {
      TableName: this.#name,
      Item: item,
      ConditionExpression: condition,
      ExpressionAttributeNames: namesIn(condition),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }

  async update({ Key, set, condition, values, names }: Update): Promise<Written> {
    const input: UpdateItemCommandInput = {
      TableName: this.#name,
      Key,
      UpdateExpression: set,
      ...(condition === undefined ? {} : { ConditionExpression: condition }),
      ExpressionAttributeNames: { ...namesIn(set, condition ?? ''), ...names },
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    try {
      const { Attributes = {} } = await sendPastTransactions(this.#patience, () =>
        this.#client.send(new UpdateItemCommand(input)),
      );
      return { done: true, item: Attributes };
    } catch (error) {
      return refusalOf(error);
    }
  }

  async delete(key: Item): Promise<void> {
    await this.#client.send(new DeleteItemCommand({ TableName: this.#name, Key: key })).catch(failWriting);
  }

  /** One page of a query; `next` is null on the last one. */
  async query(
    query: Query,
    from: Item | null = null,
  ): Promise<{ readonly items: readonly Item[]; readonly next: Item | null }> {
    const command = new QueryCommand({
      ...query,
      TableName: this.#name,
      ExpressionAttributeNames: namesIn(query.KeyConditionExpression),
      ...(from === null ? {} : { ExclusiveStartKey: from }),
    });
    const { Items = [], LastEvaluatedKey } = await this.#client.send(command).catch(failReading);
    return { items: Items, next: LastEvaluatedKey ?? null };
  }

  /** Reads pages until `limit` items are found or there are no more: DynamoDB ends each page at 1 MB. */
  async queryUpTo(limit: number, query: Omit<Query, 'Limit'>): Promise<readonly Item[]> {
    const found: Item[] = [];
    let from: Item | null = null;
    do {
      const page = await this.query({ ...query, Limit: limit - found.length }, from);
      found.push(...page.items);
      from = page.next;
    } while (from !== null && found.length < limit);
    return found;
  }
}

function nameOf({ account, item }: Item): string {
  return `${account?.S}/${item?.S}`;
}

function refusalOf(error: unknown): Written {
  if (error instanceof ConditionalCheckFailedException) return { done: false, found: error.Item ?? null };
  return failWriting(error);
}

/** The reasons that mean another write went first; any other is a failure. */
const contested: ReadonlySet<string> = new Set(['None', 'ConditionalCheckFailed', 'TransactionConflict']);

function refusalOfAll(error: unknown): CreatedAll {
  const reasons = reasonsOf(error);
  const codes = reasons.map(({ Code = 'None' }) => Code);
  if (!codes.includes('ConditionalCheckFailed') || !codes.every((code) => contested.has(code)))
    return failWriting(error);
  return { done: false, found: reasons.map(({ Item: found }) => found ?? null) };
}

function failReading(error: unknown): never {
  throw createStoreFailure('the ledger could not be read', error);
}

function failWriting(error: unknown): never {
  throw createStoreFailure('the ledger could not be written', error);
}
