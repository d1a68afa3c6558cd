import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QueriedTable } from '../../lib/base/dynamodb-queries.ts';
import { isNew } from '../../lib/base/dynamodb-table.ts';
import {
  answers,
  fails,
  type ScriptedDynamodb,
  startScriptedDynamodb,
} from '../support/scripted-dynamodb.ts';
import type { ScriptStep } from '../support/scripted-server.ts';

let dynamodb: ScriptedDynamodb;
afterEach(() => dynamodb.close());

const hangUp: ScriptStep = (response) => response.destroy();

async function open(...steps: readonly ScriptStep[]): Promise<QueriedTable> {
  dynamodb = await startScriptedDynamodb(steps);
  return new QueriedTable({
    client: dynamodb.client,
    tableName: 'ledger',
    contents: 'the ledger',
    patience: { clock: { nowMs: () => 0, sleep }, random: () => 0 },
  });
}

const pausesMs: number[] = [];
async function sleep(durationMs: number): Promise<void> {
  pausesMs.push(durationMs);
}

const itemNamed = (name: string) => ({ account: { S: 'main' }, item: { S: name } });
const newItem = (name: string) => ({ item: itemNamed(name), condition: isNew });
const seenBodies = () => dynamodb.server.seen.map(({ body }) => JSON.parse(body));

describe('reading many items', () => {
  test('requests again what a response left out, and keeps the requested order', async () => {
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

  test('gives up when response after response holds nothing, after growing pauses', async () => {
    const nothing = answers({ Responses: {}, UnprocessedKeys: { ledger: { Keys: [itemNamed('a')] } } });
    const table = await open(...Array<ScriptStep>(9).fill(nothing));
    pausesMs.length = 0;

    await expect(table.getMany([itemNamed('a')])).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the ledger could not be read: UnprocessedKeys',
    });

    expect(pausesMs).toEqual([20, 40, 80, 160]);
    expect(seenBodies()).toHaveLength(5);
  });

  test('requests twenty-five at a time, side by side, and leaves out missing items', async () => {
    const keys = Array.from({ length: 26 }, (_, i) => itemNamed(`k-${i}`));
    const answer = answers({ Responses: { ledger: keys.slice(1) } });
    const table = await open(answer, answer);
    expect(await table.getMany(keys)).toEqual(keys.slice(1));
    const sizes = seenBodies().map(({ RequestItems }) => RequestItems.ledger.Keys.length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 25]);
  });

  test('sends no request without keys', async () => {
    const table = await open();
    expect(await table.getMany([])).toEqual([]);
    expect(dynamodb.server.seen).toHaveLength(0);
  });
});

test('a query returns one page, and whether there are more', async () => {
  const table = await open(
    answers({ Items: [itemNamed('a')], LastEvaluatedKey: itemNamed('b') }),
    answers({ Items: [itemNamed('c')] }),
  );
  const query = { IndexName: 'open-orders', KeyConditionExpression: '#account = :account' };
  expect(await table.query(query)).toEqual({ items: [itemNamed('a')], next: itemNamed('b') });
  expect(await table.query(query)).toEqual({ items: [itemNamed('c')], next: null });
  expect(seenBodies()[0]).toMatchObject({ ExpressionAttributeNames: { '#account': 'account' } });
});

describe('a failure', () => {
  const write = { Key: itemNamed('a'), set: 'REMOVE #openOrder', condition: 'attribute_exists(#openOrder)' };

  test.each(['ProvisionedThroughputExceededException', 'ValidationException', 'AccessDeniedException'])(
    'of kind %s is not a failed condition: it is store_unavailable and names only the kind',
    async (kind) => {
      const table = await open(fails(kind));
      await expect(table.update(write)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: `the ledger could not be written: ${kind}`,
      });
    },
  );

  test('of the connection is store_unavailable', async () => {
    const table = await open(hangUp, hangUp);
    await expect(table.create(itemNamed('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(table.get(itemNamed('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('of a condition returns the existing item', async () => {
    const __type = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
    const refusal = { status: 400, body: JSON.stringify({ __type, message: '', Item: itemNamed('a') }) };
    const table = await open(refusal, fails('ConditionalCheckFailedException'));
    expect(await table.update(write)).toEqual({ done: false, found: itemNamed('a') });
    expect(await table.update(write)).toEqual({ done: false, found: null });
  });
});

describe('an answer that proves nothing is store_unavailable:', () => {
  const write = { Key: itemNamed('a'), set: 'REMOVE #openOrder', condition: 'attribute_exists(#openOrder)' };
  const writes: Readonly<Record<string, (table: QueriedTable) => Promise<unknown>>> = {
    'a put': (table) => table.put(itemNamed('a')),
    'a new item': (table) => table.create(itemNamed('a')),
    'several puts': (table) => table.putAll([newItem('a')]),
    'an update': (table) => table.update(write),
    'a deletion': (table) => table.delete(itemNamed('a')),
  };
  const bodies = ['', 'null', '[]', '"done"', '<html>'];

  test.each(Object.keys(writes))('%s is neither done nor refused by it', async (name) => {
    const table = await open(...bodies.map((body) => ({ status: 200, body })));
    for (const _ of bodies)
      await expect(writes[name]?.(table)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: 'the ledger could not be written: UnreadableResponse',
      });
  });

  test.each(['{}', '{"Attributes":null}'])('an update is not done by %s', async (body) => {
    const table = await open({ status: 200, body });
    await expect(table.update(write)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test.each([...bodies, '{"Item":null}', '{"Item":"a"}'])('no item is absent by %s', async (body) => {
    const table = await open({ status: 200, body });
    await expect(table.get(itemNamed('a'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the ledger could not be read: UnreadableResponse',
    });
  });

  test.each([...bodies, '{}', '{"Responses":null}', '{"Responses":[]}'])(
    'no items are absent by %s',
    async (body) => {
      const table = await open({ status: 200, body });
      await expect(table.getMany([itemNamed('a')])).rejects.toMatchObject({ code: 'store_unavailable' });
    },
  );
});

describe('a write that conflicts with a transaction on its item', () => {
  const write = { Key: itemNamed('a'), set: 'REMOVE #openOrder', condition: 'attribute_exists(#openOrder)' };
  const cancelledFor = (...codes: readonly string[]) =>
    fails('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
  const conflict = fails('TransactionConflictException');
  beforeEach(() => {
    pausesMs.length = 0;
  });

  test('is retried after growing pauses', async () => {
    const table = await open(conflict, conflict, conflict, answers({ Attributes: itemNamed('a') }));

    expect(await table.update(write)).toEqual({ done: true, item: itemNamed('a') });
    expect(pausesMs).toEqual([10, 20, 40]);
  });

  test('is given up in less than a second, within the time of receive-signal', async () => {
    const table = await open(...Array<ScriptStep>(6).fill(conflict));

    await expect(table.create(itemNamed('a'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the ledger could not be written: TransactionConflictException',
    });
    expect(pausesMs).toEqual([10, 20, 40, 80, 160]);
    expect(dynamodb.server.seen).toHaveLength(6);
  });

  test('is retried when it is a transaction itself', async () => {
    const table = await open(cancelledFor('None', 'TransactionConflict'), answers({}));

    expect(await table.putAll([newItem('a'), newItem('b')])).toEqual({ done: true });
    expect(pausesMs).toEqual([10]);
  });

  test('is not retried when a condition fails as well', async () => {
    const table = await open(cancelledFor('ConditionalCheckFailed', 'TransactionConflict'));

    expect(await table.putAll([newItem('a'), newItem('b')])).toEqual({
      done: false,
      found: [null, null],
    });
    expect(pausesMs).toEqual([]);
  });

  test.each(['ThrottlingError', 'ValidationError', 'ItemCollectionSizeLimitExceeded'])(
    'is not retried when it fails with %s as well',
    async (code) => {
      const table = await open(cancelledFor('TransactionConflict', code));

      await expect(table.putAll([newItem('a'), newItem('b')])).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      expect(pausesMs).toEqual([]);
    },
  );
});
