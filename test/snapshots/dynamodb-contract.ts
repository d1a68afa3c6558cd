import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { AwsAccess } from '../../lib/base/aws-client.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { createDynamodbClient, type DynamodbClient } from '../../lib/base/dynamodb.ts';
import { createDynamodbSnapshots } from '../../lib/snapshots/dynamodb-snapshots.ts';
import { accessOf } from '../support/aws-access.ts';
import type { DynamodbFixture } from '../support/dynamodb/fixture.ts';
import { createStackTable, deleteTable } from '../support/stack-tables.ts';
import {
  collect,
  describeSnapshots,
  feesOf,
  hourMs,
  noonMs,
  paymentAt,
  snapshotAt,
} from './snapshots-contract.ts';

/** The contract of every snapshot store, and what holds for the one on DynamoDB only. */
export function describeDynamodbSnapshots(name: string, start: () => Promise<DynamodbFixture>): void {
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

  async function open() {
    const TableName = `snapshots-${randomUUID()}`;
    await createStackTable(sdk, 'snapshots', TableName);
    const openStore = () => createDynamodbSnapshots({ client, tableName: TableName });
    return {
      store: openStore(),
      reopen: async () => openStore(),
      close: () => deleteTable(sdk, TableName),
    };
  }

  describeSnapshots(name, open);

  test(`${name}: a list of one kind of item returns no items of another kind`, async () => {
    const { store, close } = await open();
    await store.balances.write('main', snapshotAt(noonMs));
    await store.fees.append('main', null, { ticker: 'BTC', fromMs: noonMs, fees: feesOf('1') });
    await store.interest.write('main', [paymentAt(noonMs)]);
    await store.interest.writeProgress('main', {
      version: 0,
      completeUntilMs: noonMs,
      gaps: [],
      refusal: null,
    });
    const period = { fromMs: 0, untilMs: 10 ** 14 };
    expect(await collect(store.balances.list('main', period))).toHaveLength(1);
    expect(await collect(store.interest.list('main', period))).toHaveLength(1);
    expect(await collect(store.fees.list('main'))).toHaveLength(1);
    expect(await store.fees.readCurrent('main')).toHaveLength(1);
    await close();
  });

  test(`${name}: snapshots of more than a megabyte are listed page by page, to their end`, async () => {
    const { store, close } = await open();
    const main = Object.fromEntries(
      Array.from({ length: 400 }, (_, i) => [`T${i}`, parseDecimal('1234567.12345678')]),
    );
    const slots = Array.from({ length: 150 }, (_, i) => noonMs + i * hourMs);
    for (const slotMs of slots)
      await store.balances.write('main', { slotMs, takenAtMs: slotMs, main, collateral: null });
    const listed = await collect(store.balances.list('main', { fromMs: 0, untilMs: 10 ** 14 }));
    expect(listed.map(({ slotMs }) => slotMs)).toEqual(slots);
    await close();
  });

  test(`${name}: reads and writes without a table fail with an error that does not name the table`, async () => {
    const store = createDynamodbSnapshots({ client, tableName: 'gone' });
    const failure = (done: string) => ({
      code: 'store_unavailable',
      message: `the snapshots could not be ${done}: ResourceNotFoundException`,
    });
    await expect(store.balances.readAt('main', 1)).rejects.toMatchObject(failure('read'));
    await expect(store.interest.readProgress('main')).rejects.toMatchObject(failure('read'));
    await expect(store.balances.write('main', snapshotAt(1))).rejects.toMatchObject(failure('written'));
    await expect(store.interest.write('main', [paymentAt(1000)])).rejects.toMatchObject(failure('written'));
    const version = { ticker: 'BTC', fromMs: 1, fees: null };
    await expect(store.fees.append('main', null, version)).rejects.toMatchObject(failure('written'));
  });
}
