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

/** A put that is done only if the condition holds for the item stored under its key. */
export interface ConditionalPut {
  readonly item: Item;
  /** Attribute names are written `#name`, values `:name`. */
  readonly condition: string;
  readonly values?: Item;
}

/** The sort keys from `first` to `last`, both included. */
export interface KeyRange {
  readonly account: string;
  readonly first: string;
  readonly last: string;
}

/**
 * DynamoDB cancels transactions that conflict over an item, and its client
 * does not retry them. A conflict means that another write went first, so
 * a retry sees its result; this many conflicts in a row are a failure.
 */
const maximumTries = 10;

/**
 * The table of snapshots. The partition key `account` is the account's name, the sort key `item` identifies
 * an item within it. All reads are strongly consistent: they see every acknowledged write.
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
   * Writes all items in one transaction, or none.
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

  /** The items of the range in key order; DynamoDB returns pages of a megabyte at most. */
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

/** Whether one of the cancellation reasons has this code; most other codes are failures. */
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
