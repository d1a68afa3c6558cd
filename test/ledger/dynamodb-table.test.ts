import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { DynamodbTable } from '../../lib/ledger/dynamodb-table.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';
import { orderEntry } from './ledger-contract.ts';

/** What an emulator does not show: answers that are cut, lost or refused for other reasons than a condition. */
let server: ScriptedServer;
let client: DynamoDBClient;

afterEach(async () => {
  client.destroy();
  await server.close();
});

function answers(content: unknown): ScriptStep {
  return { status: 200, body: JSON.stringify(content) };
}

function fails(kind: string): ScriptStep {
  const __type = `com.amazonaws.dynamodb.v20120810#${kind}`;
  return {
    status: 400,
    body: JSON.stringify({ __type, message: 'arn:aws:dynamodb:eu-central-1:111122223333' }),
  };
}

const hangUp: ScriptStep = (response) => response.destroy();

async function open(...steps: readonly ScriptStep[]): Promise<DynamodbTable> {
  server = await startScriptedServer(steps);
  client = new DynamoDBClient({
    endpoint: server.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  return new DynamodbTable(client, 'ledger');
}

const itemNamed = (name: string) => ({ account: { S: 'main' }, item: { S: name } });
const seenBodies = () => server.seen.map(({ body }) => JSON.parse(body));

describe('reading many items', () => {
  test('asks again for what an answer left out, and keeps the order asked for', async () => {
    const table = await open(
      answers({
        Responses: { ledger: [itemNamed('c')] },
        UnprocessedKeys: { ledger: { Keys: [itemNamed('a'), itemNamed('b')] } },
      }),
      answers({ Responses: { ledger: [itemNamed('b'), itemNamed('a')] } }),
    );
    const found = await table.getMany(['a', 'b', 'c'].map(itemNamed));
    expect(found).toEqual([itemNamed('a'), itemNamed('b'), itemNamed('c')]);
    expect(seenBodies()[1].RequestItems.ledger).toEqual({
      Keys: [itemNamed('a'), itemNamed('b')],
      ConsistentRead: true,
    });
  });

  test('asks for a hundred at a time, and leaves out what is gone', async () => {
    const keys = Array.from({ length: 101 }, (_, i) => itemNamed(`k-${i}`));
    const table = await open(
      answers({ Responses: { ledger: keys.slice(1, 100) } }),
      answers({ Responses: { ledger: keys.slice(100) } }),
    );
    expect(await table.getMany(keys)).toEqual(keys.slice(1));
    expect(seenBodies().map(({ RequestItems }) => RequestItems.ledger.Keys.length)).toEqual([100, 1]);
  });

  test('asks nothing for nothing', async () => {
    const table = await open();
    expect(await table.getMany([])).toEqual([]);
    expect(server.seen).toHaveLength(0);
  });
});

test('a query that is answered by pages is followed to its end', async () => {
  const table = await open(
    answers({ Items: [itemNamed('a')], LastEvaluatedKey: itemNamed('a') }),
    answers({ Items: [], LastEvaluatedKey: itemNamed('b') }),
    answers({ Items: [itemNamed('c')] }),
  );
  const query = { IndexName: 'open-orders', KeyConditionExpression: '#account = :account' };
  expect(await table.queryAll(query)).toEqual([itemNamed('a'), itemNamed('c')]);
  expect(seenBodies().map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([
    undefined,
    itemNamed('a'),
    itemNamed('b'),
  ]);
  expect(seenBodies()[0]).toMatchObject({ ExpressionAttributeNames: { '#account': 'account' } });
});

describe('a failure', () => {
  const write = { Key: itemNamed('a'), set: 'REMOVE #openOrder', condition: 'attribute_exists(#openOrder)' };

  test.each(['ProvisionedThroughputExceededException', 'ValidationException', 'AccessDeniedException'])(
    'of kind %s is none of a condition: nothing is promised, and nothing named but the kind',
    async (kind) => {
      const table = await open(fails(kind));
      await expect(table.update(write)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: `the ledger could not be written: ${kind}`,
      });
    },
  );

  test('of the connection promises nothing', async () => {
    const table = await open(hangUp, hangUp);
    await expect(table.create(itemNamed('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(table.get(itemNamed('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('of a condition shows what stood against it', async () => {
    const __type = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
    const refusal = { status: 400, body: JSON.stringify({ __type, message: '', Item: itemNamed('a') }) };
    const table = await open(refusal, fails('ConditionalCheckFailedException'));
    expect(await table.update(write)).toEqual({ done: false, found: itemNamed('a') });
    expect(await table.update(write)).toEqual({ done: false, found: null });
  });
});

describe('a ledger', () => {
  test('does not count for ever when it is overtaken every time', async () => {
    await open(answers({}), ...Array<ScriptStep>(200).fill(fails('ConditionalCheckFailedException')));
    const ledger = createDynamodbLedger({ client, tableName: 'ledger', keepDays: 1 });
    await expect(ledger.accept(orderEntry('a'), { maxPerMinute: 5 })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the ledger could not count this minute: too many at once',
    });
  });

  test('counts no further than any limit goes', async () => {
    const times = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`n-${i}`, { N: '1767268800000' }]),
    );
    const full = {
      status: 400,
      body: JSON.stringify({
        __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
        Item: { ...itemNamed('signals-of-a-minute'), times: { M: times }, version: { N: '9' } },
      }),
    };
    await open(answers({}), full, answers({}));
    const ledger = createDynamodbLedger({ client, tableName: 'ledger', keepDays: 1 });
    expect((await ledger.accept(orderEntry('a'), null)).result).toBe('created');
    expect(seenBodies().map((body) => Object.keys(body).includes('Item'))).toEqual([false, false, true]);
  });
});
