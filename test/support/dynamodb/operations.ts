import type {
  BatchGetItemInput,
  CreateTableCommandInput,
  DeleteItemInput,
  PutItemInput,
  QueryInput,
  UpdateItemInput,
} from '@aws-sdk/client-dynamodb';
import type { Random } from '../../../lib/base/random.ts';
import { createInvalid, Failure } from './failure.ts';
import type { Item } from './item.ts';
import type { Lag } from './lagging-copy.ts';
import { getItem, query } from './reads.ts';
import { Table } from './table.ts';
import { Transactions } from './transactions.ts';
import { sizeOfItem } from './values.ts';
import {
  attributesOf,
  carryOut,
  checkReturnValues,
  prepareWrite,
  type WriteInput,
  type WriteKind,
} from './writes.ts';

const mostKeysOfABatch = 100;
const largestBatchBytes = 16 * 1_048_576;

/** All a request may ask for; what else DynamoDB knows, the stand-in would pass over in silence. */
const knownParameters = new Set(
  `TableName IndexName Key Item RequestItems TransactItems ClientRequestToken Limit ConditionExpression
  UpdateExpression KeyConditionExpression FilterExpression ProjectionExpression ExpressionAttributeNames
  ExpressionAttributeValues ConsistentRead ScanIndexForward ExclusiveStartKey ReturnValues
  ReturnValuesOnConditionCheckFailure AttributeDefinitions KeySchema BillingMode LocalSecondaryIndexes
  GlobalSecondaryIndexes`.split(/\s+/),
);

type Operation = (input: never) => object | Promise<object>;

/** DynamoDB's tables, and what may be asked of them; what it does not know, it refuses. */
export class Operations {
  readonly #tables = new Map<string, Table>();
  readonly #lag: Lag = { requests: 0, random: null };
  readonly #random: Random;
  readonly transactions = new Transactions((name) => this.#find(name));

  readonly #operations: Readonly<Record<string, Operation>> = {
    CreateTable: (input: CreateTableCommandInput) => this.#createTable(input),
    DeleteTable: ({ TableName }: { TableName: string }) => this.#deleteTable(TableName),
    GetItem: (input: Parameters<typeof getItem>[1]) => getItem(this.#find(input.TableName), input),
    BatchGetItem: (input: BatchGetItemInput) => this.#batchGet(input),
    Query: (input: QueryInput) => query(this.#find(input.TableName), input),
    PutItem: (input: PutItemInput) => this.#write('Put', input as WriteInput),
    UpdateItem: (input: UpdateItemInput) => this.#write('Update', input as WriteInput),
    DeleteItem: (input: DeleteItemInput) => this.#write('Delete', input as WriteInput),
    TransactWriteItems: (input: Parameters<Transactions['write']>[0]) => this.transactions.write(input),
  };

  constructor(random: Random) {
    this.#random = random;
  }

  /** @throws Failure in DynamoDB's words */
  async handle(name: string, input: object): Promise<object> {
    this.#lag.requests += 1;
    const operation = this.#operations[name];
    const unknown = Object.keys(input).filter((parameter) => !knownParameters.has(parameter));
    if (operation === undefined || unknown.length > 0)
      throw new Failure('UnknownOperationException', `the stand-in knows no ${[name, ...unknown].join(' ')}`);
    return await operation(input as never);
  }

  /** From now on, what is eventually consistent shows a write only some requests later; null: at once again. */
  lagBehind(random: Random | null): void {
    this.#lag.random = random;
  }

  #createTable(input: CreateTableCommandInput): object {
    const name = input.TableName ?? '';
    if (this.#tables.has(name)) throw new Failure('ResourceInUseException', `Table already exists: ${name}`);
    this.#tables.set(name, new Table(input, this.#lag));
    return { TableDescription: { TableName: name, TableStatus: 'ACTIVE' } };
  }

  #deleteTable(name: string): object {
    this.#find(name);
    this.#tables.delete(name);
    return { TableDescription: { TableName: name, TableStatus: 'DELETING' } };
  }

  #find(name: string | undefined): Table {
    const table = this.#tables.get(name ?? '');
    if (table !== undefined) return table;
    throw new Failure('ResourceNotFoundException', 'Requested resource not found');
  }

  #write(kind: WriteKind, input: WriteInput): object {
    checkReturnValues(kind, input);
    const write = prepareWrite(this.#find(input.TableName), kind, input);
    this.transactions.checkFree(write);
    const Attributes = attributesOf(input, carryOut(write));
    return Attributes === undefined ? {} : { Attributes };
  }

  /** Answers in an order of its own, and now and then not all of it, as DynamoDB may at any time. */
  #batchGet({ RequestItems = {} }: BatchGetItemInput): object {
    const asked = Object.entries(RequestItems).flatMap(([name, { Keys = [], ...how }]) =>
      Keys.map((key) => ({ table: this.#find(name), key: key as Item, how })),
    );
    checkBatch(asked);
    const most = this.#random() < 0.25 ? Math.ceil(asked.length / 2) : asked.length;
    const responses: Record<string, Item[]> = {};
    const left: Record<string, { Keys: Item[]; ConsistentRead?: boolean | undefined }> = {};
    let bytes = 0;
    for (const [i, { table, key, how }] of asked.entries()) {
      const { Item: item } = getItem(table, { ...how, TableName: table.name, Key: key });
      bytes += item === undefined ? 0 : sizeOfItem(item);
      responses[table.name] ??= [];
      if (i >= most || bytes > largestBatchBytes) {
        left[table.name] ??= { ...how, Keys: [] };
        left[table.name]?.Keys.push(key);
      } else if (item !== undefined) responses[table.name]?.unshift(item);
    }
    return { Responses: responses, UnprocessedKeys: left };
  }
}

function checkBatch(asked: readonly { readonly table: Table; readonly key: Item }[]): void {
  if (asked.length === 0 || asked.length > mostKeysOfABatch)
    throw createInvalid(
      `1 validation error detected: Value at 'requestItems' failed to satisfy constraint: Member must have length less than or equal to ${mostKeysOfABatch} and greater than or equal to 1`,
    );
  const names = asked.map(({ table, key }) => `${table.name} ${table.nameOf(key)}`);
  if (new Set(names).size < names.length)
    throw createInvalid('Provided list of item keys contains duplicates');
}
