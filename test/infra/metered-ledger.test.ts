import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { type Meter, meterDynamodb } from './metered-ledger.ts';
import { synthesize } from './synthesized.ts';

const { resources } = await synthesize();
let dynamodb: LocalDynamodb;
let meter: Meter;

beforeEach(async () => {
  dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const table = resources['RelayLedgerTable'];
  if (table === undefined) throw new Error('the template has no ledger');
  meter = meterDynamodb(dynamodb.relayClient, table);
});
afterEach(() => dynamodb.close());

const key = { account: { S: 'main' }, item: { S: 'signal#a' } };
const entry = {
  ...key,
  kind: { S: 'signal' },
  place: { S: '1' },
  status: { S: 'accepted' },
  openOrder: { S: 'waiting BTC_USDT#1' },
};

async function put(item: object): Promise<void> {
  await meter.client.call('PutItem', { TableName: 'ledger', Item: item } as never);
}

async function set(name: string, value: string): Promise<void> {
  await meter.client.call('UpdateItem', {
    TableName: 'ledger',
    Key: key,
    UpdateExpression: 'SET #name = :value',
    ExpressionAttributeNames: { '#name': name },
    ExpressionAttributeValues: { ':value': { S: value } },
  } as never);
}

test('A new entry is a write in the table and in each of the four indexes that hold it', async () => {
  await put(entry);

  expect(meter.units).toEqual({ write: 5, read: 0 });
});

test('A new status is a write in the table and in the index of all attributes, and two in the index by status', async () => {
  await put(entry);
  await set('status', 'sending');

  expect(meter.units.write).toBe(5 + 4);
});

test('A second kilobyte costs one more in the table and in the index of all attributes, in no other', async () => {
  await put(entry);
  await set('note', 'x'.repeat(1024));

  expect(meter.units.write).toBe(5 + 4);
});

test('An item outside the indexes is one write', async () => {
  await put({ account: { S: 'main' }, item: { S: 'pause' } });

  expect(meter.units.write).toBe(1);
});

test('A consistent read is one unit for each four kilobytes, found or not; any other is half of it', async () => {
  const read = (input: object) =>
    meter.client.call('GetItem', { TableName: 'ledger', Key: key, ...input } as never);
  await read({ ConsistentRead: true });
  await put({ ...entry, note: { S: 'x'.repeat(4096) } });
  await read({ ConsistentRead: true });
  await read({});

  expect(meter.units.read).toBe(1 + 2 + 1);
});
