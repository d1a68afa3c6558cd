import {
  type AttributeValue,
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Random } from '../../lib/base/random.ts';
import type { Item } from '../support/dynamodb/item.ts';
import { pick as pickFrom } from '../support/dynamodb/table.ts';

/** A request that may be sent to any DynamoDB, as often as one likes. */
export interface RandomRequest {
  readonly name: string;
  readonly input: object;
  send(client: DynamoDBClient): Promise<object>;
}

const accounts = ['main', 'second'];
const signals = ['signal#a', 'signal#b', 'signal#ż', 'signal#B', 'signal#aa', 'pause'];
const statuses = ['accepted', 'sending', 'unknown'];

/** Requests of the kinds the ledger makes, and others like them, upon the few items of its table. */
export function createRandomRequests(random: Random, TableName: string): () => RandomRequest {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const chance = (share: number) => random() < share;
  const text = (choices: readonly string[]): AttributeValue => ({ S: pick(choices) });
  const number = (): AttributeValue => ({ N: pick(['0', '1', '2.50', '-3', '1e3', '9007199254740991']) });
  const key = (): Item => ({ account: text(accounts), item: text(signals) });

  function item(): Item {
    return {
      ...key(),
      kind: { S: 'signal' },
      place: { S: String(Math.floor(random() * 1e6)).padStart(6, '0') },
      status: text(statuses),
      ...(chance(0.6)
        ? { openOrder: { S: `${pick(['BTC_USD', 'BTC_USDT'])}#${Math.floor(random() * 1e6)}` } }
        : {}),
      ...(chance(0.5) ? { lookupDueAtMs: { N: String(Math.floor(random() * 1e6)) } } : {}),
      ...(chance(0.7) ? { version: number() } : {}),
      steps: { L: Array.from({ length: Math.floor(random() * 3) }, () => text(['x', 'y', ''])) },
      times: { M: chance(0.5) ? { a: number(), b: number() } : {} },
      flag: pick<AttributeValue>([{ BOOL: true }, { BOOL: false }, { NULL: true }, { SS: ['p', 'q'] }]),
    };
  }

  const conditions = [
    'attribute_not_exists(#account)',
    'attribute_exists(#openOrder)',
    '#status = :status',
    '#status <> :status AND #version >= :number',
    '#version BETWEEN :low AND :high OR attribute_type(#flag, :type)',
    'NOT (#status IN (:status, :other) OR size(#times) < :number)',
    'size(#times) < :number OR #times.#a > :number',
    'begins_with(#openOrder, :prefix) AND contains(#flag, :p)',
    '#steps[0] = :p OR #nowhere < :number',
    '#version = :status',
  ];
  const updates = [
    'SET #status = :status, #version = :number',
    'SET #steps = list_append(#steps, :list)',
    'SET #steps = list_append(if_not_exists(#steps, :list), :list), #seen = #status',
    'SET #version = #version + :number REMOVE #openOrder',
    'SET #times.#a = :number ADD #version :number',
    'SET #openOrder = #place',
    'SET #openOrder = #steps',
    'REMOVE #lookupDueAtMs, #version',
    'ADD #flag :set',
    'SET #version = if_not_exists(#version, :low) - :number',
  ];
  const placeholders: Item = {
    ':status': { S: 'accepted' },
    ':other': { S: 'sending' },
    ':number': { N: '2' },
    ':low': { N: '0' },
    ':high': { N: '3' },
    ':type': { S: 'BOOL' },
    ':prefix': { S: 'BTC_USD#' },
    ':p': { S: 'p' },
    ':list': { L: [{ S: 'z' }] },
    ':set': { SS: ['q', 'r'] },
    ':account': { S: 'main' },
    ':kind': { S: 'signal' },
    ':due': { N: '500000' },
    ':signal': { S: 'signal#' },
  };

  function namesOf(...expressions: readonly (string | undefined)[]) {
    const written = expressions.join(' ');
    const names = [...new Set(written.match(/#\w+/g) ?? [])];
    const values = [...new Set(written.match(/:\w+/g) ?? [])];
    return {
      ...(names.length === 0
        ? {}
        : { ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])) }),
      ...(values.length === 0 ? {} : { ExpressionAttributeValues: pickFrom(placeholders, values) }),
    };
  }

  function condition(share: number): Condition {
    if (!chance(share)) return {};
    return {
      ConditionExpression: pick(conditions),
      ...(chance(0.7) ? { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const } : {}),
    };
  }

  function putInput() {
    const asked = condition(0.5);
    return { TableName, Item: item(), ...asked, ...namesOf(asked.ConditionExpression) };
  }

  function updateInput() {
    const asked = { UpdateExpression: pick(updates), ...condition(0.5) };
    return { TableName, Key: key(), ...asked, ...namesOf(asked.UpdateExpression, asked.ConditionExpression) };
  }

  function transactInput() {
    const TransactItems = Array.from({ length: 1 + Math.floor(random() * 3) }, (): TransactWriteItem => {
      if (chance(0.4)) return { Put: putInput() };
      if (chance(0.6)) return { Update: updateInput() };
      const ConditionExpression = pick(conditions);
      return {
        ConditionCheck: { TableName, Key: key(), ConditionExpression, ...namesOf(ConditionExpression) },
      };
    });
    return { TransactItems, ClientRequestToken: `token-${Math.floor(random() * 1e9)}` };
  }

  const searches: readonly Partial<QueryCommandInput>[] = [
    { KeyConditionExpression: '#account = :account' },
    { KeyConditionExpression: '#account = :account AND begins_with(#item, :signal)', ConsistentRead: true },
    {
      IndexName: 'open-orders',
      ConsistentRead: true,
      KeyConditionExpression: '#account = :account AND begins_with(#openOrder, :prefix)',
    },
    { IndexName: 'by-time', KeyConditionExpression: '#kind = :kind' },
    { IndexName: 'by-status', KeyConditionExpression: '#status = :status', ScanIndexForward: false },
    { IndexName: 'by-look', KeyConditionExpression: '#status = :other AND #lookupDueAtMs <= :due' },
    { KeyConditionExpression: '#account = :account', FilterExpression: '#version >= :low' },
    { IndexName: 'by-time', KeyConditionExpression: '#kind = :kind', ConsistentRead: true },
    { KeyConditionExpression: '#item = :signal' },
  ];

  function queryInput() {
    const search = pick(searches);
    return {
      TableName,
      ...search,
      ...namesOf(search.KeyConditionExpression, search.FilterExpression),
      ...(chance(0.6) ? { Limit: 1 + Math.floor(random() * 3) } : {}),
    };
  }

  return () => {
    const share = random();
    if (share < 0.25) return toRequest('PutItem', PutItemCommand, putInput());
    if (share < 0.5)
      return toRequest('UpdateItem', UpdateItemCommand, { ...updateInput(), ReturnValues: 'ALL_NEW' });
    if (share < 0.55) {
      const asked = condition(0.3);
      const names = namesOf(asked.ConditionExpression);
      return toRequest('DeleteItem', DeleteItemCommand, { TableName, Key: key(), ...asked, ...names });
    }
    if (share < 0.6)
      return toRequest('GetItem', GetItemCommand, { TableName, Key: key(), ConsistentRead: true });
    if (share < 0.65) {
      const Keys = signals.slice(0, 3).map((name) => ({ account: text(accounts), item: { S: name } }));
      return toRequest('BatchGetItem', BatchGetItemCommand, { RequestItems: { [TableName]: { Keys } } });
    }
    if (share < 0.8) return toRequest('TransactWriteItems', TransactWriteItemsCommand, transactInput());
    return toRequest('Query', QueryCommand, queryInput());
  };
}

interface Condition {
  readonly ConditionExpression?: string;
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

function toRequest<Input extends object>(
  name: string,
  Command: new (input: Input) => unknown,
  input: Input,
): RandomRequest {
  const send = (client: DynamoDBClient, command: unknown) => client.send(command as never) as Promise<object>;
  return { name, input, send: (client) => send(client, new Command(input)) };
}
