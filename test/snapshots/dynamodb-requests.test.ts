import { afterEach, describe, expect, test } from '@jest/globals';
import { createDynamodbSnapshots } from '../../lib/snapshots/dynamodb-snapshots.ts';
import type { SnapshotStore } from '../../lib/snapshots/snapshot-store.ts';
import {
  answers,
  fails,
  type ScriptedDynamodb,
  startScriptedDynamodb,
} from '../support/scripted-dynamodb.ts';
import type { ScriptStep } from '../support/scripted-server.ts';
import { collect, feesOf, noonMs, paymentAt, snapshotAt } from './snapshots-contract.ts';

let dynamodb: ScriptedDynamodb;
afterEach(() => dynamodb.close());

async function open(...steps: readonly ScriptStep[]): Promise<SnapshotStore> {
  dynamodb = await startScriptedDynamodb(steps);
  return createDynamodbSnapshots({ client: dynamodb.client, tableName: 'snapshots' });
}

const seenBodies = () => dynamodb.server.seen.map(({ body }) => JSON.parse(body));
const balanceItem = (slotMs: number) => ({
  account: { S: 'main' },
  item: { S: `balance#${String(slotMs).padStart(15, '0')}` },
  takenAtMs: { N: '5' },
  main: { S: '{"BTC":"1.5"}' },
});

describe('a list that DynamoDB returns in pages', () => {
  test('continues to the last page, even after an empty one', async () => {
    const key = { account: { S: 'main' }, item: { S: 'balance#x' } };
    const store = await open(
      answers({ Items: [balanceItem(1)], LastEvaluatedKey: key }),
      answers({ Items: [], LastEvaluatedKey: key }),
      answers({ Items: [balanceItem(2)] }),
    );
    const listed = await collect(store.balances.list('main', { fromMs: 1, untilMs: 3 }));
    expect(listed.map(({ slotMs }) => slotMs)).toEqual([1, 2]);
    expect(seenBodies().map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([undefined, key, key]);
  });

  test('queries only the keys of its period, strongly consistently', async () => {
    const store = await open(answers({ Items: [] }));
    await collect(store.interest.list('main', { fromMs: noonMs, untilMs: noonMs + 1000 }));
    expect(seenBodies()[0]).toMatchObject({
      KeyConditionExpression: '#account = :account AND #item BETWEEN :first AND :last',
      ExpressionAttributeValues: {
        ':account': { S: 'main' },
        ':first': { S: 'payment#001767268800000' },
        ':last': { S: 'payment#001767268800999~' },
      },
      ConsistentRead: true,
    });
  });

  test('of the balances at a time reads one item', async () => {
    const store = await open(answers({ Items: [balanceItem(7)] }));
    expect(await store.balances.readAt('main', 9)).toMatchObject({ slotMs: 7, takenAtMs: 5 });
    expect(seenBodies()[0]).toMatchObject({ Limit: 1, ScanIndexForward: false });
  });
});

describe('a write that DynamoDB refuses', () => {
  const version = { ticker: 'BTC', fromMs: 2, fees: feesOf('1') };

  test('because its condition does not hold returns false', async () => {
    const refused = { CancellationReasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }] };
    const store = await open(
      fails('ConditionalCheckFailedException'),
      fails('TransactionCanceledException', refused),
      fails('ConditionalCheckFailedException'),
    );
    expect(await store.balances.write('main', snapshotAt(1))).toBe('known');
    expect(await store.fees.append('main', null, version)).toBe(false);
    const progress = { version: 3, completeUntilMs: 1, gaps: [], refusal: null };
    expect(await store.interest.writeProgress('main', progress)).toBe(false);
  });

  const conflict = fails('TransactionCanceledException', {
    CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
  });

  test('because of a conflicting transaction is retried', async () => {
    const store = await open(conflict, conflict, answers({}));
    expect(await store.fees.append('main', null, version)).toBe(true);
  });

  test('for any other reason, or in every retry, throws', async () => {
    const store = await open(
      ...Array.from({ length: 6 }, () => conflict),
      fails('TransactionCanceledException', { CancellationReasons: [{ Code: 'ThrottlingError' }] }),
      fails('AccessDeniedException'),
      fails('AccessDeniedException'),
    );
    const failure = (kind: string) => ({
      code: 'store_unavailable',
      message: `the snapshots could not be written: ${kind}`,
    });
    const cancelled = failure('TransactionCanceledException');
    await expect(store.fees.append('main', null, version)).rejects.toMatchObject(cancelled);
    await expect(store.fees.append('main', null, version)).rejects.toMatchObject(cancelled);
    const denied = failure('AccessDeniedException');
    await expect(store.balances.write('main', snapshotAt(1))).rejects.toMatchObject(denied);
    await expect(store.interest.write('main', [paymentAt(1000)])).rejects.toMatchObject(denied);
  });
});

describe('what is written', () => {
  test('for a change is both the history item and the current item, or neither', async () => {
    const store = await open(answers({}));
    const known = { ticker: 'BTC', fromMs: 1, fees: null };
    expect(await store.fees.append('main', known, { ticker: 'BTC', fromMs: 2, fees: null })).toBe(true);
    const puts = seenBodies()[0].TransactItems.map(({ Put }: { Put: object }) => Put);
    expect(puts).toMatchObject([
      {
        Item: { item: { S: 'current-fees#BTC' }, fromMs: { N: '2' } },
        ConditionExpression: '#fromMs = :known',
        ExpressionAttributeValues: { ':known': { N: '1' } },
      },
      {
        Item: { item: { S: 'fees#BTC#000000000000002' } },
        ConditionExpression: 'attribute_not_exists(#account)',
      },
    ]);
  });

  test('for one payment is the same item each time, and a different item for another payment', async () => {
    const store = await open(...Array(3).fill(answers({})));
    await store.interest.write('main', [paymentAt(noonMs)]);
    await store.interest.write('main', [paymentAt(noonMs)]);
    await store.interest.write('main', [paymentAt(noonMs, { nth: 2 })]);
    const [first, again, second] = seenBodies().map(({ Item }) => Item);
    expect(again).toEqual(first);
    expect(second.item).not.toEqual(first.item);
    expect(first.item.S).toMatch(/^payment#001767268800000#[\w-]{22}$/);
    expect(first.payment.S).toBe('["plan-1","investment-1","USDT","12.34","1"]');
  });

  test('for the progress has the version after the one that was read', async () => {
    const progress = '{"completeUntilMs":7,"gaps":[],"refusal":null}';
    const store = await open(
      answers({ Item: { version: { N: '4' }, progress: { S: progress } } }),
      answers({}),
    );
    const read = await store.interest.readProgress('main');
    expect(read).toEqual({ version: 4, completeUntilMs: 7, gaps: [], refusal: null });
    expect(await store.interest.writeProgress('main', read)).toBe(true);
    expect(seenBodies()[1]).toMatchObject({
      Item: { version: { N: '5' }, progress: { S: progress } },
      ConditionExpression: '#version = :seen',
      ExpressionAttributeValues: { ':seen': { N: '4' } },
    });
  });
});
