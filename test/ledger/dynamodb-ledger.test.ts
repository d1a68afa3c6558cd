import { expect, test } from '@jest/globals';
import { createRandom } from '../../lib/base/random.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { acceptOne } from '../support/accept-one.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { describeDynamodbLedger } from './dynamodb-contract.ts';
import { orderEntry } from './ledger-contract.ts';

describeDynamodbLedger('a ledger on a local DynamoDB', startDynamodb);

const noonMs = 1_767_268_800_000;

async function readWhileMoving(ledger: Ledger, signalId: string): Promise<void> {
  const key = { account: 'main', signalId };
  const step = (status: Status) => ({ status, atMs: noonMs, note: '' });
  const check = async () => {
    const { entries } = await ledger.list({ status: 'unknown', limit: 50 });
    expect(entries.filter(({ status }) => status !== 'unknown')).toEqual([]);
    const due = await ledger.dueLookups(noonMs, 50);
    expect(due.filter(({ status }) => status !== 'unknown')).toEqual([]);
  };
  await acceptOne(ledger, orderEntry(signalId), null);
  await ledger.start(key, step('sending'), null);
  await ledger.move(key, { from: 'sending', step: step('unknown'), orderOpen: true });
  // The signal may have been sent a moment ago, so this must not depend on an eventually consistent index.
  expect((await ledger.openOrders('main', 'BTC_USDT', 100)).map((entry) => entry.signalId)).toContain(
    signalId,
  );
  await check();
  await ledger.move(key, { from: 'unknown', step: step('not_placed') });
  expect((await ledger.openOrders('main', 'BTC_USDT', 100)).map((entry) => entry.signalId)).not.toContain(
    signalId,
  );
  await check();
}

test.each([1, 2, 3])('outdated indexes cause no outdated result, seed %i', async (seed) => {
  const dynamodb = await startDynamodb(seed);
  try {
    await createStackTable(dynamodb.client, 'ledger', 'ledger');
    const ledger = createDynamodbLedger({ client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 });
    dynamodb.lagBehind(createRandom(seed));
    for (const signalId of ['a', 'b', 'c', 'd', 'e', 'f']) await readWhileMoving(ledger, signalId);
    dynamodb.lagBehind(null);
    const { entries } = await ledger.list({ limit: 50 });
    expect(entries).toHaveLength(6);
  } finally {
    await dynamodb.close();
  }
});

test('a list reaches its limit even when the entries fill several pages of DynamoDB', async () => {
  const dynamodb = await startDynamodb(1);
  try {
    await createStackTable(dynamodb.client, 'ledger', 'ledger');
    const ledger = createDynamodbLedger({ client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 });
    const ids = Array.from({ length: 70 }, (_, index) => `s-${String(index).padStart(2, '0')}`);
    for (const signalId of ids) {
      const evidence = { text: 'x'.repeat(20_000) };
      await acceptOne(ledger, orderEntry(signalId), null);
      await ledger.start(
        { account: 'main', signalId },
        { status: 'sending', atMs: noonMs, note: '', evidence },
        null,
      );
    }

    const idsOf = async (limit: number) =>
      (await ledger.openOrders('main', 'BTC_USDT', limit)).map(({ signalId }) => signalId);
    expect(await idsOf(100)).toEqual(ids.toReversed());
    expect(await idsOf(69)).toEqual(ids.toReversed().slice(0, 69));
  } finally {
    await dynamodb.close();
  }
});
