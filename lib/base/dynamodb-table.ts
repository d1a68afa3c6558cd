import { randomUUID } from 'node:crypto';
import { AwsError } from './aws-error.ts';
import { systemClock } from './clock.ts';
import { type DynamodbClient, type Item, namesIn } from './dynamodb.ts';
import { askUntilWhole, type Patience, readRefusal, sendPastTransactions } from './dynamodb-conflict.ts';
import { createStoreFailure } from './store-failure.ts';

/** The result of a conditional write: done, with the item after it; or refused, with the item that it met. */
export type Written =
  | { readonly done: true; readonly item: Item }
  | { readonly done: false; readonly found: Item | null };

/** The result of several conditional writes: all done; or none, with the item that each met, null for none. */
export type AllWritten =
  | { readonly done: true }
  | { readonly done: false; readonly found: readonly (Item | null)[] };

/** A put that happens only if the condition holds for the stored item with its key. */
export interface ConditionalPut {
  readonly item: Item;
  /** Names are written as `#name`, values as `:name`. */
  readonly condition: string;
  readonly values?: Item;
}

/** The condition that no item with the key is stored. */
export const isNew = 'attribute_not_exists(#account)';

export interface Update {
  readonly Key: Item;
  readonly set: string;
  /** Absent: the update always happens, and the item is not returned. */
  readonly condition?: string;
  readonly values?: Item;
  /** Names beside those in the expressions. */
  readonly names?: Readonly<Record<string, string>>;
}

/** The keys of one BatchGetItem. It takes 100, and of the largest entries fewer fit into a response of the transport. */
const batchSize = 25;

export interface DynamodbTableOptions {
  readonly client: DynamodbClient;
  readonly tableName: string;
  /** The name of the contents in error messages: `the ledger` could not be read. */
  readonly contents: string;
  readonly patience?: Patience;
}

/**
 * The operations that the relay needs of a table with the partition key `account` and the sort key `item`.
 * Failures of the service are `store_unavailable`.
 */
export class DynamodbTable {
  readonly #client: DynamodbClient;
  readonly #name: string;
  readonly #contents: string;
  readonly #patience: Patience;

  constructor({ client, tableName, contents, patience }: DynamodbTableOptions) {
    this.#client = client;
    this.#name = tableName;
    this.#contents = contents;
    this.#patience = patience ?? { clock: systemClock, random: Math.random };
  }

  /** Reads consistently: every write acknowledged before is seen. */
  async get(key: Item): Promise<Item | null> {
    const { Item: item } = await this.read((client, TableName) =>
      client.call('GetItem', { TableName, Key: key, ConsistentRead: true }),
    );
    return item ?? null;
  }

  /** Consistently too, in the order of the keys; what is not there is left out. */
  async getMany(keys: readonly Item[]): Promise<readonly Item[]> {
    const batches = Array.from({ length: Math.ceil(keys.length / batchSize) }, (_, index) =>
      this.#getBatch(keys.slice(index * batchSize, (index + 1) * batchSize)),
    );
    const found = (await Promise.all(batches)).flat();
    const byName = new Map(found.map((item) => [nameOf(item), item]));
    return keys.map((key) => byName.get(nameOf(key))).filter((item) => item !== undefined);
  }

  async #getBatch(keys: readonly Item[]): Promise<readonly Item[]> {
    const found: Item[] = [];
    await this.read((client) =>
      askUntilWhole(this.#patience, keys, async (left) => {
        const request = { [this.#name]: { Keys: left, ConsistentRead: true } };
        const response = await client.call('BatchGetItem', { RequestItems: request });
        found.push(...(response.Responses?.[this.#name] ?? []));
        return response.UnprocessedKeys?.[this.#name]?.Keys ?? [];
      }),
    );
    return found;
  }

  async put(item: Item): Promise<void> {
    await this.#client.call('PutItem', { TableName: this.#name, Item: item }).catch(this.#failWriting);
  }

  /** Puts the item where none of its key is. */
  create(item: Item): Promise<Written> {
    return this.putIf({ item, condition: isNew });
  }

  async putIf(put: ConditionalPut): Promise<Written> {
    const input = this.#inputOf(put);
    try {
      await sendPastTransactions(this.#patience, () => this.#client.call('PutItem', input));
      return { done: true, item: put.item };
    } catch (error) {
      return this.#refusalOf(error);
    }
  }

  /** All of the puts or none of them. */
  async putAll(puts: readonly ConditionalPut[]): Promise<AllWritten> {
    const TransactItems = puts.map((put) => ({ Put: this.#inputOf(put) }));
    try {
      await sendPastTransactions(this.#patience, () =>
        // By its token, DynamoDB recognises a transaction that the client sends again.
        this.#client.call('TransactWriteItems', { TransactItems, ClientRequestToken: randomUUID() }),
      );
      return { done: true };
    } catch (error) {
      return this.#refusalOfAll(error);
    }
  }

  #inputOf({ item, condition, values }: ConditionalPut) {
    return {
      TableName: this.#name,
      Item: item,
      ConditionExpression: condition,
      ExpressionAttributeNames: namesIn(condition),
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }

  async update({ Key, set, condition, values, names }: Update): Promise<Written> {
    const input = {
      TableName: this.#name,
      Key,
      UpdateExpression: set,
      ExpressionAttributeNames: { ...namesIn(set, condition ?? ''), ...names },
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
      ...(condition === undefined
        ? {}
        : {
            ConditionExpression: condition,
            ReturnValues: 'ALL_NEW' as const,
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
          }),
    };
    try {
      const { Attributes = {} } = await sendPastTransactions(this.#patience, () =>
        this.#client.call('UpdateItem', input),
      );
      return { done: true, item: Attributes };
    } catch (error) {
      return this.#refusalOf(error);
    }
  }

  async delete(key: Item): Promise<void> {
    await this.#client.call('DeleteItem', { TableName: this.#name, Key: key }).catch(this.#failWriting);
  }

  /** Sends a request that reads. */
  protected async read<T>(send: (client: DynamodbClient, tableName: string) => Promise<T>): Promise<T> {
    return await send(this.#client, this.#name).catch(this.#failReading);
  }

  #refusalOf(error: unknown): Written {
    if (!(error instanceof AwsError) || error.name !== 'ConditionalCheckFailedException')
      return this.#failWriting(error);
    return { done: false, found: (error.content['Item'] as Item | undefined) ?? null };
  }

  #refusalOfAll(error: unknown): AllWritten {
    const found = readRefusal(error);
    return found === null ? this.#failWriting(error) : { done: false, found };
  }

  readonly #failReading = (error: unknown): never => {
    throw createStoreFailure(`${this.#contents} could not be read`, error);
  };

  readonly #failWriting = (error: unknown): never => {
    throw createStoreFailure(`${this.#contents} could not be written`, error);
  };
}

function nameOf({ account, item }: Item): string {
  return `${account?.S}/${item?.S}`;
}
