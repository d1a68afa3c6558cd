import { type AwsAccess, type AwsService, createAwsClient } from './aws-client.ts';

/** A value in DynamoDB's JSON: one of these members names its type and holds it. */
export interface AttributeValue {
  readonly S?: string;
  /** A number as text, because it may have more digits than a number of JavaScript. */
  readonly N?: string;
  readonly BOOL?: boolean;
  readonly NULL?: boolean;
  readonly L?: readonly AttributeValue[];
  readonly M?: Item;
  readonly SS?: readonly string[];
  readonly NS?: readonly string[];
}

/** An item, or a part of one. */
export type Item = { readonly [name: string]: AttributeValue };

interface Expressions {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

interface Put extends Expressions {
  readonly TableName: string;
  readonly Item: Item;
}

interface Update extends Expressions {
  readonly TableName: string;
  readonly Key: Item;
  readonly UpdateExpression: string;
  readonly ReturnValues?: 'ALL_NEW';
}

interface Query extends Expressions {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly KeyConditionExpression: string;
  readonly ConsistentRead?: boolean;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: Item;
}

interface Key {
  readonly TableName: string;
  readonly Key: Item;
}

type Keys = Readonly<Record<string, { readonly Keys: readonly Item[]; readonly ConsistentRead: boolean }>>;

/** Operation → its input and output, as far as the relay uses them. */
export interface DynamodbOperations {
  GetItem: [Key & { readonly ConsistentRead: boolean }, { readonly Item?: Item }];
  BatchGetItem: [
    { readonly RequestItems: Keys },
    { readonly Responses?: Readonly<Record<string, readonly Item[]>>; readonly UnprocessedKeys?: Keys },
  ];
  Query: [Query, { readonly Items?: readonly Item[]; readonly LastEvaluatedKey?: Item }];
  PutItem: [Put, unknown];
  UpdateItem: [Update, { readonly Attributes?: Item }];
  DeleteItem: [Key, unknown];
  TransactWriteItems: [
    { readonly TransactItems: readonly { readonly Put: Put }[]; readonly ClientRequestToken: string },
    unknown,
  ];
}

export interface DynamodbClient {
  /** @throws AwsError */
  call<O extends keyof DynamodbOperations>(
    operation: O,
    input: DynamodbOperations[O][0],
  ): Promise<DynamodbOperations[O][1]>;
}

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html */
const dynamodb: AwsService = {
  name: 'dynamodb',
  target: 'DynamoDB_20120810',
  protocol: '1.0',
  promises: {
    // Of an item that is not there, the answer is an empty object.
    GetItem: { field: 'Item', type: 'record', isDue: () => false },
    BatchGetItem: { field: 'Responses', type: 'record' },
    Query: { field: 'Items', type: 'list' },
    UpdateItem: { field: 'Attributes', type: 'record', isDue: (input) => 'ReturnValues' in input },
  },
};

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html */
export function createDynamodbClient(access: AwsAccess): DynamodbClient {
  return createAwsClient(dynamodb, access) as DynamodbClient;
}

export function textAttribute(item: Item, name: string): string {
  return item[name]?.S ?? '';
}

export function numberOf(item: Item, name: string): number {
  return Number(item[name]?.N);
}

/** Collects the attribute names of expressions; all are written as `#name`, as many words are reserved. */
export function namesIn(...expressions: readonly string[]): Record<string, string> {
  const names = expressions.join(' ').matchAll(/#(\w+)/g);
  return Object.fromEntries([...names].map(([alias, name = '']) => [alias, name]));
}

/** A time as a text, in ms, of one length: texts that begin with it sort by time. */
export function formatTime(timeMs: number): string {
  return String(timeMs).padStart(15, '0');
}
