import {
  type AttributeValue,
  GetItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type LocalDynamodb, startDynamodb } from './start-dynamodb.ts';
import { createThreads, invalid, keyOf, TableName, threadOf } from './threads.ts';

let dynamodb: LocalDynamodb;

beforeEach(async () => {
  dynamodb = await startDynamodb();
  await createThreads(dynamodb.client);
});
afterEach(() => dynamodb.close());

function write(TransactItems: TransactWriteItem[], ClientRequestToken?: string) {
  const input = ClientRequestToken === undefined ? { TransactItems } : { TransactItems, ClientRequestToken };
  return dynamodb.client.send(new TransactWriteItemsCommand(input));
}

function putOf(subject: string, more: Record<string, AttributeValue> = {}): TransactWriteItem {
  return { Put: { TableName, Item: threadOf(subject, more) } };
}

async function read(subject: string) {
  const command = new GetItemCommand({ TableName, Key: keyOf(subject), ConsistentRead: true });
  return (await dynamodb.client.send(command)).Item;
}

const add: TransactWriteItem = {
  Update: {
    TableName,
    Key: keyOf('count'),
    UpdateExpression: 'ADD views :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  },
};

test('all of a transaction is written', async () => {
  await write([putOf('gone')]);
  await write([
    putOf('new'),
    add,
    { Delete: { TableName, Key: keyOf('gone') } },
    {
      ConditionCheck: { TableName, Key: keyOf('other'), ConditionExpression: 'attribute_not_exists(forum)' },
    },
  ]);
  expect(await read('new')).toEqual(threadOf('new'));
  expect(await read('count')).toEqual(threadOf('count', { views: { N: '1' } }));
  expect(await read('gone')).toBeUndefined();
  expect(await read('other')).toBeUndefined();
});

test('nothing of it is, when one condition does not hold; each action says why', async () => {
  await write([putOf('there', { views: { N: '7' } })]);
  const cancelled = write([
    putOf('new'),
    {
      Put: {
        TableName,
        Item: threadOf('there'),
        ConditionExpression: 'attribute_not_exists(forum)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    {
      Update: {
        TableName,
        Key: keyOf('count'),
        UpdateExpression: 'SET seen = nowhere',
      },
    },
  ]);
  await expect(cancelled).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    message:
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ValidationError]',
    CancellationReasons: [
      { Code: 'None' },
      {
        Code: 'ConditionalCheckFailed',
        Message: 'The conditional request failed',
        Item: threadOf('there', { views: { N: '7' } }),
      },
      {
        Code: 'ValidationError',
        Message: 'The provided expression refers to an attribute that does not exist in the item',
      },
    ],
  });
  expect(await read('new')).toBeUndefined();
});

test('the same token does it once, and refuses anything else', async () => {
  await write([add], 'token-1');
  await write([add], 'token-1');
  await expect(write([add, putOf('more')], 'token-1')).rejects.toMatchObject({
    name: 'IdempotentParameterMismatchException',
  });
  await write([add], 'token-2');
  expect(await read('count')).toMatchObject({ views: { N: '2' } });
});

test('a token whose transaction was cancelled may be used again', async () => {
  const check = { TableName, Key: keyOf('a'), ConditionExpression: 'attribute_exists(forum)' };
  const transaction = [{ ConditionCheck: check }, add];
  await expect(write(transaction, 'token')).rejects.toMatchObject({ name: 'TransactionCanceledException' });
  await write([putOf('a')]);
  await write(transaction, 'token');
  expect(await read('count')).toMatchObject({ views: { N: '1' } });
});

test('whoever writes what a transaction is about to write is turned away; whoever reads it is not', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  dynamodb.holdTransactionsUntil(released);
  const first = write([putOf('a', { views: { N: '1' } })]);
  const message = 'Transaction is ongoing for the item';
  const put = () => dynamodb.client.send(new PutItemCommand({ TableName, Item: threadOf('a') }));
  // It is under way as soon as somebody else is turned away.
  await expect(untilFails(put)).resolves.toMatchObject({ name: 'TransactionConflictException', message });
  await expect(write([putOf('b'), putOf('a')])).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict', Message: message }],
  });
  expect((await read('a'))?.['views']).toBeUndefined();
  release();
  await first;
  expect(await read('a')).toEqual(threadOf('a', { views: { N: '1' } }));
  await put();
});

async function untilFails(ask: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    const error = await ask().then(
      () => null,
      (failure: unknown) => failure,
    );
    if (error !== null) return error;
  }
}

test('of a hundred that meet over one item some are turned away, and the others all count', async () => {
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => write([add])));
  const done = results.filter(({ status }) => status === 'fulfilled').length;
  expect(done).toBeLessThan(100);
  expect(await read('count')).toMatchObject({ views: { N: String(done) } });
});

test('what DynamoDB does not take in a transaction is refused', async () => {
  await expect(write([putOf('a'), putOf('a')])).rejects.toMatchObject(
    invalid('Transaction request cannot include multiple operations on one item'),
  );
  await expect(write([])).rejects.toMatchObject(invalid('greater than or equal to 1'));
  const many = Array.from({ length: 101 }, (_, i) => putOf(String(i)));
  await expect(write(many)).rejects.toMatchObject(invalid('less than or equal to 100'));
  const large = Array.from({ length: 11 }, (_, i) => putOf(String(i), { text: { S: 'x'.repeat(400_000) } }));
  await expect(write(large)).rejects.toMatchObject(invalid('exceeds the 4 MB limit'));
});
