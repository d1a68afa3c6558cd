import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { type Item, namesIn } from '../base/dynamodb.ts';
import { createStoreFailure } from '../base/store-failure.ts';

/** A put that happens only when the condition holds of what stands under its key. */
export interface ConditionalPut {
  readonly item: Item;
  /** Names are written `#name`, values `:name`. */
  readonly condition: string;
  readonly values?: Item;
}

/** Sort keys from the first to the last, both included. */
export interface KeyRange {
  readonly account: string;
  readonly first: string;
  readonly last: string;
}

/**
 * DynamoDB turns transactions away that meet over an item, and its client does not send them again by itself. Whoever
 * was turned away was overtaken by somebody whose write decides; so many in a row is something else.
 */
const maximumTries = 10;

/**
 * The snapshots' table: the account's name is the partition key `account`, the sort key `item` tells its things
 * apart. Everything is read consistently: an acknowledged write is seen.
 */
export class SnapshotTable {
  readonly #client: DynamoDBClient;
  readonly #name: string;

  constructor(client: DynamoDBClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async get(account: string, item: string): Promise<Item | null> {
    const Key = { account: { S: account }, item: { S: item } };
    const command = new GetItemCommand({ TableName: this.#name, Key, ConsistentRead: true });
    const { Item: found } = await this.#client.send(command).catch(failReading);
    return found ?? null;
  }

  async put(item: Item): Promise<void> {
    await this.#client.send(new PutItemCommand({ TableName: this.#name, Item: item })).catch(failWriting);
  }

  /** @returns whether the condition held */
  async putIf(put: ConditionalPut): Promise<boolean> {
    try {
      await this.#client.send(new PutItemCommand(this.#inputOf(put)));
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      return failWriting(error);
    }
  }

  /**
   * All of them or none.
   *
   * @returns whether every condition held
   */
  async putTogether(puts: readonly ConditionalPut[]): Promise<boolean> {
    const TransactItems = puts.map((put) => ({ Put: this.#inputOf(put) }));
    for (let tries = 1; ; tries += 1)
      try {
        await this.#client.send(new TransactWriteItemsCommand({ TransactItems }));
        return true;
      } catch (error) {
        if (isCancelledFor('ConditionalCheckFailed', error)) return false;
        if (tries === maximumTries || !isCancelledFor('TransactionConflict', error))
          return failWriting(error);
      }
  }

  /** Items of the range in the order of their keys; DynamoDB answers with pages of a megabyte at most. */
  async *list(range: KeyRange): AsyncGenerator<Item> {
    let from: Item | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await this.#query(range, { from });
      yield* Items;
      from = LastEvaluatedKey;
    } while (from !== undefined);
  }

  async findLast(range: KeyRange): Promise<Item | null> {
    const { Items = [] } = await this.#query(range, { newestOnly: true });
    return Items[0] ?? null;
  }

  #query(
    { account, first, last }: KeyRange,
    { from, newestOnly = false }: { from?: Item | undefined; newestOnly?: boolean },
  ) {
    const command = new QueryCommand({
      TableName: this.#name,
      KeyConditionExpression: '#account = :account AND #item BETWEEN :first AND :last',
      ExpressionAttributeNames: { '#account': 'account', '#item': 'item' },
      ExpressionAttributeValues: { ':account': { S: account }, ':first': { S: first }, ':last': { S: last } },
      ConsistentRead: true,
      ScanIndexForward: !newestOnly,
      ...(newestOnly ? { Limit: 1 } : {}),
      ...(from === undefined ? {} : { ExclusiveStartKey: from }),
    });
    return this.#client.send(command).catch(failReading);
  }

  #inputOf({ item, condition, values }: ConditionalPut) {
    return {
      TableName: this.#name,
      Item: item,
      ConditionExpression: condition,
      ExpressionAttributeNames: namesIn(condition),
      ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
    };
  }
}

/** A transaction is cancelled for many reasons; most of them are failures. */
function isCancelledFor(code: string, error: unknown): boolean {
  if (!(error instanceof TransactionCanceledException)) return false;
  return error.CancellationReasons?.some(({ Code }) => Code === code) ?? false;
}

function failReading(error: unknown): never {
  throw createStoreFailure('the snapshots could not be read', error);
}

function failWriting(error: unknown): never {
  throw createStoreFailure('the snapshots could not be written', error);
}
