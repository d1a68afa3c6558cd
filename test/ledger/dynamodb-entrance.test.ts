import { randomUUID } from 'node:crypto';
import {
  PutItemCommand,
  TransactionConflictException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AwsError } from '../../lib/base/aws-error.ts';
import { createDynamodbClient, type DynamodbClient } from '../../lib/base/dynamodb.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { acceptOne } from '../support/accept-one.ts';
import { accessOf } from '../support/aws-access.ts';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { orderEntry } from './ledger-contract.ts';

const noonMs = 1_767_268_800_000;
const TableName = 'ledger';
const alert = [orderEntry('a'), orderEntry('b')];

let dynamodb: LocalDynamodb;
/** The ledger that stores an alert first, and the one that stores a moment later. */
let first: Ledger;
let later: Ledger;
/** Resolves when the later ledger has hit a conflict with the transaction. */
let met: PromiseWithResolvers<void>;
let release: () => void;

beforeEach(async () => {
  dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', TableName);
  met = Promise.withResolvers();
  first = createDynamodbLedger({ client: dynamodb.relayClient, tableName: TableName, keepDays: 400 });
  later = createDynamodbLedger({ client: openWatched(), tableName: TableName, keepDays: 400 });
  const held = Promise.withResolvers<void>();
  release = held.resolve;
  dynamodb.holdTransactionsUntil(held.promise);
});
afterEach(async () => {
  release();
  await dynamodb.close();
});

function openWatched(): DynamodbClient {
  return {
    call: (operation, input) =>
      dynamodb.relayClient.call(operation, input).catch((error: unknown) => {
        if (error instanceof AwsError && isConflict(error)) met.resolve();
        throw error;
      }),
  };
}

function isConflict({ name, content }: AwsError): boolean {
  return (
    name === 'TransactionConflictException' ||
    JSON.stringify(content['CancellationReasons'] ?? []).includes('"Code":"TransactionConflict"')
  );
}

/**
 * Resolves once the transaction holds the signal's item:
 * before that, a single write fails for another reason.
 */
async function untilHeld(signalId: string): Promise<void> {
  const Item = { account: { S: 'main' }, item: { S: `signal#${signalId}` } };
  const probe = new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_exists(nothing)' });
  for (;;) {
    const error = await dynamodb.client.send(probe).catch((failure: unknown) => failure);
    if (error instanceof TransactionConflictException) return;
  }
}

/** Makes the later alert arrive while the transaction of the first one is in progress. */
async function overlap<T>(act: () => Promise<T>) {
  const storing = first.accept(alert, null);
  await untilHeld('a');
  const acting = act();
  await met.promise;
  release();
  return { stored: await storing, acted: await acting };
}

describe('while the transaction of an alert of several signals is in progress', () => {
  test('a resend of it waits and finds the stored entries', async () => {
    const { stored, acted } = await overlap(() => later.accept(alert, null));

    expect(stored).toMatchObject({ result: 'stored', signals: [{ isNew: true }, { isNew: true }] });
    expect(acted).toMatchObject({ result: 'stored', signals: [{ isNew: false }, { isNew: false }] });
  });

  test('a single signal of the same id waits and is refused as id_taken', async () => {
    const { acted } = await overlap(() =>
      acceptOne(later, orderEntry('b', { fingerprint: 'of another alert' })),
    );

    expect(acted).toMatchObject({ result: 'id_taken', entry: { signalId: 'b', fingerprint: 'f1' } });
  });

  test('another alert that shares an id with it waits, and none of its signals is stored', async () => {
    const other = ['b', 'c'].map((id) => orderEntry(id, { fingerprint: 'of another alert' }));

    const { acted } = await overlap(() => later.accept(other, { maxPerMinute: 10 }));

    expect(acted).toMatchObject({ result: 'id_taken', by: { signalId: 'b' } });
    expect(await first.read({ account: 'main', signalId: 'c' })).toBeNull();
  });
});

describe('while a resend is in progress that read the table too early', () => {
  /** It read the table before the first delivery was stored, so its conditions will fail. */
  async function resendTooLate(): Promise<void> {
    const Item = { account: { S: 'main' }, item: { S: 'signal#a' } };
    const Put = { TableName, Item, ConditionExpression: 'attribute_not_exists(account)' };
    const resent = dynamodb.client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }));
    resent.catch(() => undefined);
    await untilHeld('a');
  }
  const key = { account: 'main', signalId: 'a' };
  const sending = { status: 'sending', atMs: noonMs, note: '' } as const;

  test('the signal still starts', async () => {
    await acceptOne(first, orderEntry('a'));
    await resendTooLate();

    const starting = later.start(key, sending, null);
    await met.promise;
    release();

    expect(await starting).toEqual({ result: 'started' });
  });

  test('the outcome of the order is still stored', async () => {
    await acceptOne(first, orderEntry('a'));
    await first.start(key, sending, null);
    await resendTooLate();

    const step = { status: 'placed', atMs: noonMs, note: '' } as const;
    const moving = later.move(key, { from: 'sending', step, orderId: 7, orderOpen: true });
    await met.promise;
    release();

    await moving;
    expect(await first.findOrder('main', 'BTC_USDT', 7)).toMatchObject({ signalId: 'a', status: 'placed' });
  });
});

test('the retry of a transaction whose response was lost is recognised', async () => {
  release();
  const { relayClient } = dynamodb;
  const repeating: DynamodbClient = {
    async call(operation, input) {
      const first = await relayClient.call(operation, input);
      if (operation !== 'TransactWriteItems') return first;
      // Under another token, so that DynamoDB does not recognise it by itself.
      return await relayClient.call(operation, { ...input, ClientRequestToken: randomUUID() });
    },
  };
  const ledger = createDynamodbLedger({ client: repeating, tableName: TableName, keepDays: 400 });

  expect(await ledger.accept(alert, null)).toMatchObject({
    result: 'stored',
    signals: [{ isNew: true }, { isNew: true }],
  });
});

test('requests whose first answers are pages are carried out once: nothing is refused, lost or doubled', async () => {
  release();
  const access = accessOf(dynamodb.clientOptions);
  const answered = new Set<string>();
  const transport: Transport = {
    async send(request) {
      const outcome = await access.transport.send(request);
      const name = `${request.headers['x-amz-target']} ${request.body}`;
      if (answered.has(name)) return outcome;
      answered.add(name);
      return { kind: 'answered', status: 200, body: '<html>' };
    },
    close() {},
  };
  const client = createDynamodbClient({ ...access, transport, random: () => 0 });
  const ledger = createDynamodbLedger({ client, tableName: TableName, keepDays: 400 });
  const key = { account: 'main', signalId: 'a' };
  const sending = { status: 'sending', atMs: noonMs, note: '' } as const;
  const placed = { status: 'placed', atMs: noonMs + 1, note: '' } as const;

  expect(await ledger.accept(alert, { maxPerMinute: 2 })).toMatchObject({
    result: 'stored',
    signals: [{ isNew: true }, { isNew: true }],
  });
  expect(await ledger.start(key, sending, { maxPerMinute: 1 })).toEqual({ result: 'started' });
  await ledger.move(key, { from: 'sending', step: placed, orderId: 7, orderOpen: true });
  access.transport.close();

  expect((await first.read(key))?.steps.map(({ status }) => status)).toEqual([
    'accepted',
    'sending',
    'placed',
  ]);
  expect(await first.start(key, sending, null)).toMatchObject({ result: 'conflict' });
});
