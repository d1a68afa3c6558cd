import { randomUUID } from 'node:crypto';
import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import {
  createDynamodbClient,
  type DynamodbClient,
  type DynamodbOperations,
} from '../../lib/base/dynamodb.ts';
import { maximumStepBytes } from '../../lib/ledger/bound-step.ts';
import { createFirstLookup } from '../../lib/ledger/create-entry.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { fillKeyItem } from '../../lib/ledger/dynamodb-items.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { createDynamodbMarketCopies } from '../../lib/ledger/dynamodb-market-copies.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { acceptOne } from '../support/accept-one.ts';
import { accessOf } from '../support/aws-access.ts';
import type { DynamodbFixture } from '../support/dynamodb/fixture.ts';
import { createStackTable, deleteTable } from '../support/stack-tables.ts';
import { describeDamage } from './damage-contract.ts';
import { describeFinding } from './find-contract.ts';
import { describeLedger, orderEntry, signal } from './ledger-contract.ts';
import { describeLookups } from './lookup-contract.ts';
import { describeMarketCopies, market } from './market-copies-contract.ts';
import { describeRepeats } from './repeat-contract.ts';
import { describeStateMachine } from './state-machine.ts';

interface Opened {
  readonly ledger: Ledger;
  readonly executions: Executions;
  readonly tableName: string;
  close(): Promise<void>;
}

const noonMs = 1_767_268_800_000;
const key = { account: 'main', signalId: 'a' };
const sending = { status: 'sending', atMs: noonMs, note: '' } as const;
const placed = { status: 'placed', atMs: noonMs + 1, note: '' } as const;
const firstLookup = createFirstLookup(noonMs);

/** The contract of every ledger, and what holds for the one on DynamoDB only. */
export function describeDynamodbLedger(name: string, start: () => Promise<DynamodbFixture>): void {
  let dynamodb: DynamodbFixture;
  let client: DynamodbClient;
  /** AWS's own, which looks at what is stored. */
  let sdk: DynamoDBClient;
  let access: AwsAccess;

  beforeAll(async () => {
    dynamodb = await start();
    sdk = new DynamoDBClient(dynamodb.clientOptions);
    access = accessOf(dynamodb.clientOptions);
    client = createDynamodbClient(access);
  }, 180_000);

  afterAll(async () => {
    sdk.destroy();
    access.transport.close();
    await dynamodb.close();
  });

  async function open(keepDays = 400): Promise<Opened> {
    const tableName = `ledger-${randomUUID()}`;
    await createStackTable(sdk, 'ledger', tableName);
    return {
      ledger: createDynamodbLedger({ client, tableName, keepDays }),
      executions: createDynamodbExecutions({ client, tableName, keepDays }),
      tableName,
      close: () => deleteTable(sdk, tableName),
    };
  }

  async function openFixture() {
    const { ledger, tableName, close } = await open();
    return { ledger, close, reopen: async () => createDynamodbLedger({ client, tableName, keepDays: 400 }) };
  }

  describeLedger(name, openFixture);
  describeLookups(name, openFixture);
  describeFinding(name, openFixture);
  async function openTwice() {
    const { ledger, tableName, close } = await open();
    return { ledger, other: createDynamodbLedger({ client, tableName, keepDays: 400 }), close };
  }
  describeStateMachine(name, openTwice);
  describeRepeats(name, openTwice, 'until the clock has caught up');

  describeDamage(name, async () => {
    const { ledger, tableName, close } = await open();
    return {
      ledger,
      close,
      async damage({ account, signalId }, part) {
        const Key = { account: { S: account }, item: { S: `signal#${signalId}` } };
        const { Item } = await sdk.send(
          new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }),
        );
        if (Item === undefined) throw new Error(`there is no signal "${signalId}"`);
        const torn = { S: '{"torn' };
        const damaged = { ...Item, [part]: part === 'steps' ? { L: [torn] } : torn };
        await sdk.send(new PutItemCommand({ TableName: tableName, Item: damaged }));
      },
    };
  });

  describeMarketCopies(`${name}: the copy of the market list`, async () => {
    const { tableName, close } = await open();
    return {
      open: (exchange) => createDynamodbMarketCopies({ client, tableName, exchange }),
      async write(text) {
        const Item = { account: { S: '#relay' }, item: { S: 'markets' }, copy: { S: text } };
        await sdk.send(new PutItemCommand({ TableName: tableName, Item }));
      },
      close,
    };
  });

  test(`${name}: the copy of the market list appears in no list of the ledger`, async () => {
    const { ledger, tableName, close } = await open();
    const copies = createDynamodbMarketCopies({ client, tableName, exchange: 'global' });
    await copies.save({ readAtMs: 1, markets: [market] });

    expect(await ledger.list({ limit: 10 })).toEqual({ entries: [], cursors: [], next: null });
    expect(await ledger.openOrders('#relay', 'BTC_USDT', 10)).toEqual([]);
    expect(await ledger.waiting('#relay', 'BTC_USDT', 10)).toEqual([]);
    await close();
  });

  async function readItem(tableName: string, item: string) {
    const Key = { account: { S: 'main' }, item: { S: item } };
    return (await sdk.send(new GetItemCommand({ TableName: tableName, Key }))).Item;
  }

  describe(`${name}: the time of deletion`, () => {
    const settledAtS = 1_767_268_801;
    const expiryOf = async (tableName: string) => (await readItem(tableName, 'signal#a'))?.['expiresAt']?.N;

    test('is not set before the status is final', async () => {
      const { ledger, tableName, close } = await open();
      await acceptOne(ledger, orderEntry('a'), null);
      expect(await expiryOf(tableName)).toBeUndefined();
      await ledger.start(key, sending, null);
      expect(await expiryOf(tableName)).toBeUndefined();
      await ledger.move(key, { from: 'sending', step: { ...placed, status: 'unknown' }, orderOpen: true });
      await ledger.closeOrder(key);
      expect(await expiryOf(tableName)).toBeUndefined();
      await ledger.move(key, { from: 'unknown', step: placed });
      expect(await expiryOf(tableName)).toBe(String(settledAtS + 400 * 86_400));
      await close();
    });

    test('is the configured number of days after a final status', async () => {
      const { ledger, tableName, close } = await open(7);
      await acceptOne(ledger, orderEntry('a'), null);
      await ledger.move(key, { from: 'accepted', step: { ...placed, status: 'denied' } });
      expect(await expiryOf(tableName)).toBe(String(settledAtS + 7 * 86_400));
      await close();
    });

    test('is set for a refused alert at once', async () => {
      const { ledger, tableName, close } = await open(7);
      await ledger.refuse({ ...key, fingerprint: 'f', step: { ...placed, status: 'invalid' } });
      expect(await expiryOf(tableName)).toBe(String(settledAtS + 7 * 86_400));
      await close();
    });

    test.each(['rejected', 'cancelled', 'not_placed', 'not_sent'] as const)(
      'is set when an unknown entry becomes %s',
      async (status) => {
        const { ledger, tableName, close } = await open(7);
        await acceptOne(ledger, orderEntry('a'), null);
        await ledger.start(key, sending, null);
        await ledger.move(key, { from: 'sending', step: { ...sending, status: 'unknown' }, orderOpen: true });
        await ledger.move(key, { from: 'unknown', step: { ...placed, status } });
        expect(await readItem(tableName, 'signal#a')).toMatchObject({
          expiresAt: { N: String(settledAtS + 7 * 86_400) },
          look: { S: expect.stringContaining('"count":0') },
        });
        await close();
      },
    );

    async function placeAfterLookup(ledger: Ledger): Promise<void> {
      await acceptOne(ledger, orderEntry('a'), null);
      await ledger.start(key, sending, null);
      await ledger.move(key, { from: 'sending', step: { ...placed, status: 'unknown' }, orderOpen: true });
      await ledger.move(key, { from: 'unknown', step: placed });
    }
    const dayS = 86_400;
    const followed = {
      revision: 1,
      readAtMs: (settledAtS + 300 * dayS) * 1000,
      orders: [],
      isFollowed: true,
    };

    test('is not set while the order is followed, and comes the configured number of days after its end', async () => {
      const { ledger, executions, tableName, close } = await open(7);
      await placeAfterLookup(ledger);
      expect(await expiryOf(tableName)).toBe(String(settledAtS + 400 * dayS));
      await executions.record(key, followed, []);
      expect(await expiryOf(tableName)).toBeUndefined();
      const endedAtS = settledAtS + 500 * dayS;
      await executions.record(
        key,
        { revision: 2, readAtMs: endedAtS * 1000, orders: [], isFollowed: false },
        [],
      );
      expect(await expiryOf(tableName)).toBe(String(endedAtS + 7 * dayS));
      await close();
    });

    test('of a fill is no earlier than 400 days after it: a later sale counts with what it cost', async () => {
      const { executions, tableName, close } = await open(7);
      const fill: Fill = {
        account: 'main',
        market: 'BTC_USDT',
        dealId: 7,
        atMs: settledAtS * 1000,
        signalId: '',
        orderId: 42,
        role: 'other',
        side: 'buy',
        liquidity: 'taker',
        amount: '0.01',
        price: '60000',
        notional: '600',
        fee: '0.6',
        feeAsset: 'USDT',
      };
      await executions.recordOthers([fill]);
      expect(await readItem(tableName, fillKeyItem(fill)['item']?.S ?? '')).toMatchObject({
        expiresAt: { N: String(settledAtS + 400 * dayS) },
      });
      expect(executions.keptFromMs(settledAtS * 1000)).toBe((settledAtS - 400 * dayS) * 1000);
      await close();
    });

    test('is taken from a followed entry to which a release of before has given one', async () => {
      const { ledger, executions, tableName, close } = await open(7);
      await placeAfterLookup(ledger);
      await executions.record(key, followed, []);
      const item = await readItem(tableName, 'signal#a');
      const Item = { ...item, expiresAt: { N: String(settledAtS + 400 * dayS) } };
      await sdk.send(new PutItemCommand({ TableName: tableName, Item }));
      expect(await executions.followed('main', 10)).toMatchObject([{ signalId: 'a' }]);
      expect(await expiryOf(tableName)).toBeUndefined();
      await close();
    });
  });

  /** Sends the named write twice, as the client does when the first response is lost. */
  function repeatWrites(name: keyof DynamodbOperations): DynamodbClient {
    return {
      async call(operation, input) {
        if (operation === name) await client.call(operation, input).catch(() => undefined);
        return await client.call(operation, input);
      },
    };
  }

  describe(`${name}: the retry of a write whose response was lost`, () => {
    test('of a new signal is recognised: the signal counts as new', async () => {
      const { tableName, close } = await open();
      const ledger = createDynamodbLedger({ client: repeatWrites('PutItem'), tableName, keepDays: 1 });
      expect((await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 1 })).result).toBe('created');
      await close();
    });

    test('of several new signals is recognised', async () => {
      const { tableName, close } = await open();
      const repeating = repeatWrites('TransactWriteItems');
      const ledger = createDynamodbLedger({ client: repeating, tableName, keepDays: 1 });
      expect(await ledger.accept([orderEntry('a'), orderEntry('b')], { maxPerMinute: 2 })).toMatchObject({
        result: 'stored',
        signals: [{ isNew: true }, { isNew: true }],
      });
      await close();
    });

    test('of a signal that its arrival names is recognised', async () => {
      const { tableName, close } = await open();
      const repeating = repeatWrites('TransactWriteItems');
      const ledger = createDynamodbLedger({ client: repeating, tableName, keepDays: 1 });
      const entry = orderEntry('a', { isByArrival: true });
      expect((await acceptOne(ledger, entry, { maxPerMinute: 1 })).result).toBe('created');
      expect((await acceptOne(ledger, entry, { maxPerMinute: 1 })).result).toBe('exists');
      await close();
    });

    test('of `sending` is recognised: the order is sent', async () => {
      const { ledger: first, tableName, close } = await open();
      await acceptOne(first, orderEntry('a'), null);
      const ledger = createDynamodbLedger({
        client: repeatWrites('UpdateItem'),
        tableName,
        keepDays: 1,
      });
      expect(await ledger.start(key, sending, { maxPerMinute: 1 })).toEqual({ result: 'started' });
      expect((await first.read(key))?.steps).toHaveLength(2);
      expect(await first.start(key, sending, null)).toMatchObject({ result: 'conflict' });
      await close();
    });

    test('of an outcome is recognised, and stored once', async () => {
      const { ledger: first, tableName, close } = await open();
      await acceptOne(first, orderEntry('a'), null);
      await first.start(key, sending, null);
      const ledger = createDynamodbLedger({
        client: repeatWrites('UpdateItem'),
        tableName,
        keepDays: 1,
      });
      await ledger.move(key, { from: 'sending', step: placed });
      const stored = await first.read(key);
      expect([stored?.status, stored?.steps.length]).toEqual(['placed', 3]);
      await close();
    });
  });

  test(`${name} holds an entry of the largest possible size, including its copy in an index`, async () => {
    const { ledger, close } = await open();
    const noteBytes = 4 * 1024;
    const largest = (status: Status) => ({
      status,
      atMs: noonMs,
      note: 'n'.repeat(noteBytes),
      evidence: { response: 'x'.repeat(maximumStepBytes - noteBytes - 100) },
    });
    const looked = { ...firstLookup, count: 1, finding: 'f'.repeat(noteBytes) };
    const alert = { ...signal, comment: 'c'.repeat(16 * 1024) };
    await acceptOne(ledger, orderEntry('a', { signal: alert }));
    await ledger.start(key, largest('sending'), null);
    const unknown = { from: 'sending', step: largest('unknown'), orderOpen: true } as const;
    await ledger.move(key, unknown);
    await ledger.postpone(key, (await ledger.read(key))?.lookup ?? firstLookup, looked);

    const placing = { from: 'unknown', step: largest('placed'), orderId: 7, orderOpen: true } as const;
    await ledger.move(key, placing);
    const entry = await ledger.read(key);

    expect(Buffer.byteLength(JSON.stringify(entry))).toBeGreaterThan(90 * 1024);
    expect(entry).toMatchObject({ signal: alert, orderOpen: true, lookup: looked });
    expect(entry?.steps.slice(1)).toEqual([largest('sending'), largest('unknown'), largest('placed')]);
    expect(await ledger.openOrders('main', 'BTC_USDT', 10)).toEqual([entry]);
    await close();
  });

  describe(`${name}: the count of a minute`, () => {
    test('drops expired times once it is full', async () => {
      const { ledger, tableName, close } = await open();
      const limit = { maxPerMinute: 2 };
      for (const [id, atMs] of [
        ['a', noonMs],
        ['b', noonMs + 1],
        ['c', noonMs + 60_001],
      ] as const)
        await acceptOne(ledger, orderEntry(id, { atMs }), limit);
      const times = (await readItem(tableName, 'signals-of-a-minute'))?.['times']?.M ?? {};
      expect(Object.values(times)).toEqual([{ N: String(noonMs + 60_001) }]);
      await close();
    });

    test('takes one place, however often a start is repeated after a crash', async () => {
      const { ledger, tableName, close } = await open();
      const TableName = tableName;
      await acceptOne(ledger, orderEntry('a'), null);
      await acceptOne(ledger, orderEntry('b'), null);
      const stored = await readItem(tableName, 'signal#a');
      await ledger.start(key, sending, { maxPerMinute: 1 });
      // The process stopped after it took the place and before it wrote `sending`.
      await sdk.send(new PutItemCommand({ TableName, Item: stored ?? {} }));
      expect(await ledger.start({ ...key, signalId: 'b' }, sending, { maxPerMinute: 1 })).toEqual({
        result: 'over_limit',
        count: 1,
      });
      expect(await ledger.start(key, sending, { maxPerMinute: 1 })).toEqual({ result: 'started' });
      await close();
    });
  });

  describe(`${name}: the indexes`, () => {
    test('of open orders contains open orders and waiting signals only', async () => {
      const { ledger, tableName, close } = await open();
      for (const id of ['a', 'b', 'c', 'd']) await acceptOne(ledger, orderEntry(id), null);
      await ledger.start(key, sending, null);
      await ledger.move(key, { from: 'sending', step: placed, orderOpen: true });
      const others = ['c', 'd'].map((signalId) => ({ account: 'main', signalId }));
      for (const other of others) await ledger.start(other, sending, null);
      for (const other of others)
        await ledger.move(other, { from: 'sending', step: { ...placed, status: 'rejected' } });
      const { Count, ScannedCount } = await sdk.send(
        new QueryCommand({
          TableName: tableName,
          IndexName: 'open-orders',
          KeyConditionExpression: 'account = :main',
          ExpressionAttributeValues: { ':main': { S: 'main' } },
          ConsistentRead: true,
        }),
      );
      expect([Count, ScannedCount]).toEqual([2, 2]);
      await close();
    });

    test('by time keeps the order of entries of the same millisecond', async () => {
      const { ledger, close } = await open();
      for (const id of ['z', 'm', 'a']) await acceptOne(ledger, orderEntry(id), null);
      const { entries } = await ledger.list({ limit: 5 });
      expect(entries.map(({ signalId }) => signalId)).toEqual(['a', 'm', 'z']);
      await close();
    });
  });

  test(`${name} gives the place back that a repeat took which came after its minute`, async () => {
    const { ledger, close } = await open();
    const later = { atMs: noonMs + 61_000 };
    await acceptOne(ledger, orderEntry('a'), null);

    const repeated = await acceptOne(ledger, orderEntry('a', later), { maxPerMinute: 1 });
    const next = await acceptOne(ledger, orderEntry('b', later), { maxPerMinute: 1 });
    const full = await acceptOne(ledger, orderEntry('c', later), { maxPerMinute: 1 });

    expect([repeated.result, next.result, full.result]).toEqual(['id_taken', 'created', 'over_limit']);
    await close();
  });

  test(`${name} without its table fails with errors that do not name the table`, async () => {
    const ledger = createDynamodbLedger({ client, tableName: 'gone', keepDays: 1 });
    const failure = (done: string) => ({
      code: 'store_unavailable',
      message: `the ledger could not be ${done}: ResourceNotFoundException`,
    });
    await expect(ledger.read(key)).rejects.toMatchObject(failure('read'));
    await expect(ledger.list({ limit: 1 })).rejects.toMatchObject(failure('read'));
    await expect(ledger.openOrders('main', 'BTC_USDT', 100)).rejects.toMatchObject(failure('read'));
    await expect(
      ledger.writePause('main', { sinceMs: 1, reason: '', kind: 'everything' }),
    ).rejects.toMatchObject(failure('written'));
    await expect(ledger.closeOrder(key)).rejects.toMatchObject(failure('written'));
  });
}
