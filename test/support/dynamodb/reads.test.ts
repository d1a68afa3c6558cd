import {
  type AttributeValue,
  BatchGetItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createRandom } from '../../../lib/base/random.ts';
import { type LocalDynamodb, startDynamodb } from './start-dynamodb.ts';
import { createThreads, invalid, keyOf, TableName, threadOf } from './threads.ts';

let dynamodb: LocalDynamodb;

beforeEach(async () => {
  dynamodb = await startDynamodb();
  await createThreads(dynamodb.client);
});
afterEach(() => dynamodb.close());

async function put(subject: string, more: Record<string, AttributeValue> = {}): Promise<void> {
  await dynamodb.client.send(new PutItemCommand({ TableName, Item: threadOf(subject, more) }));
}

const ofForum = { TableName, KeyConditionExpression: 'forum = :forum' } as const;
const forum = { ':forum': { S: 'S3' } };

async function query(input: Partial<QueryCommandInput> = {}) {
  const command = new QueryCommand({ ...ofForum, ExpressionAttributeValues: forum, ...input });
  const { Items = [], ...response } = await dynamodb.client.send(command);
  return { subjects: Items.map(({ subject }) => subject?.S), Items, ...response };
}

describe('a query', () => {
  beforeEach(async () => {
    for (const [i, subject] of ['ccc', 'a', 'Z', 'bb', 'ż'].entries())
      await put(subject, { views: { N: String(10 - i) }, word: { S: subject } });
  });

  test('shows one partition by the bytes of its sort key, from either end', async () => {
    await dynamodb.client.send(
      new PutItemCommand({ TableName, Item: { forum: { S: 'S33' }, subject: { S: 'a' } } }),
    );
    expect((await query()).subjects).toEqual(['Z', 'a', 'bb', 'ccc', 'ż']);
    expect((await query({ ScanIndexForward: false })).subjects).toEqual(['ż', 'ccc', 'bb', 'a', 'Z']);
  });

  test.each<[string, AttributeValue, readonly string[]]>([
    ['subject >= :v', { S: 'bb' }, ['bb', 'ccc', 'ż']],
    ['begins_with(subject, :v)', { S: 'b' }, ['bb']],
    ['subject BETWEEN :v AND :v', { S: 'a' }, ['a']],
  ])('takes one condition on the sort key: %s', async (condition, value, expected) => {
    const { subjects } = await query({
      KeyConditionExpression: `forum = :forum AND ${condition}`,
      ExpressionAttributeValues: { ...forum, ':v': value },
    });
    expect(subjects).toEqual(expected);
  });

  test('counts its limit before it filters, and goes on after the last it looked at', async () => {
    const filtered = {
      FilterExpression: 'word = :word',
      ExpressionAttributeValues: { ...forum, ':word': { S: 'bb' } },
      Limit: 2,
    };
    const first = await query(filtered);
    expect(first).toMatchObject({ subjects: [], Count: 0, ScannedCount: 2, LastEvaluatedKey: keyOf('a') });
    const second = await query({ ...filtered, ExclusiveStartKey: first.LastEvaluatedKey });
    expect(second).toMatchObject({ subjects: ['bb'], Count: 1, LastEvaluatedKey: keyOf('ccc') });
    const third = await query({ ...filtered, ExclusiveStartKey: second.LastEvaluatedKey });
    expect(third).toMatchObject({ subjects: [], ScannedCount: 1 });
    expect(third.LastEvaluatedKey).toBeUndefined();
  });

  test('that found as much as its limit says that there may be more', async () => {
    const { LastEvaluatedKey } = await query({ Limit: 5 });
    expect(LastEvaluatedKey).toEqual(keyOf('ż'));
    expect(await query({ ExclusiveStartKey: LastEvaluatedKey })).toMatchObject({ subjects: [] });
  });

  test('ends a page at a megabyte', async () => {
    for (const subject of ['x1', 'x2', 'x3']) await put(subject, { text: { S: 'x'.repeat(400_000) } });
    const { subjects, LastEvaluatedKey } = await query();
    expect(subjects).toEqual(['Z', 'a', 'bb', 'ccc', 'x1', 'x2']);
    expect(LastEvaluatedKey).toEqual(keyOf('x2'));
  });

  test('of an index shows what has its key, by that key, and as much of it as is projected', async () => {
    await put('without');
    const local = await query({ IndexName: 'local', ConsistentRead: true });
    expect(local.subjects).toEqual(['ż', 'bb', 'Z', 'a', 'ccc']);
    expect(local.Items[0]).toEqual(threadOf('ż', { views: { N: '6' }, word: { S: 'ż' } }));
    const global = await query({ IndexName: 'global', Limit: 1 });
    expect(global.Items).toEqual([threadOf('ż', { views: { N: '6' } })]);
    expect(global.LastEvaluatedKey).toEqual(threadOf('ż', { views: { N: '6' } }));
  });

  test.each<[string, Partial<QueryCommandInput>, string]>([
    [
      'a global index to be consistent',
      { IndexName: 'global', ConsistentRead: true },
      'Consistent reads are not supported on global secondary indexes',
    ],
    [
      'an index that is not there',
      { IndexName: 'none' },
      'The table does not have the specified index: none',
    ],
    [
      'no partition',
      { KeyConditionExpression: 'subject = :forum' },
      'Query condition missed key schema element: forum',
    ],
    [
      'many partitions',
      { KeyConditionExpression: 'begins_with(forum, :forum)' },
      'Query key condition not supported',
    ],
    [
      'a choice',
      { KeyConditionExpression: 'forum = :forum OR subject = :forum' },
      'Invalid operator used in KeyConditionExpression: OR',
    ],
    [
      'what is no key',
      { KeyConditionExpression: 'forum = :forum AND word = :forum' },
      'Query condition missed key schema element: subject',
    ],
    [
      'a start that is none',
      { ExclusiveStartKey: { forum: { S: 'S3' } } },
      'The provided starting key is invalid',
    ],
    ['a limit of nothing', { Limit: 0 }, 'Member must have value greater than or equal to 1'],
  ])('is refused when it asks for %s', async (_, input, message) => {
    await expect(query(input)).rejects.toMatchObject(invalid(message));
  });

  test('is refused when its range is upside down, or a key is empty', async () => {
    const between = {
      KeyConditionExpression: 'forum = :forum AND subject BETWEEN :high AND :low',
      ExpressionAttributeValues: { ...forum, ':high': { S: 'b' }, ':low': { S: 'a' } },
    };
    await expect(query(between)).rejects.toMatchObject(
      invalid('The BETWEEN operator requires upper bound to be greater than or equal to lower bound'),
    );
    await expect(query({ ExpressionAttributeValues: { ':forum': { S: '' } } })).rejects.toMatchObject(
      invalid('cannot contain an empty string value. Key: forum'),
    );
  });
});

describe('a batch', () => {
  const subjects = ['a', 'b', 'c', 'd'];

  async function readAll(Keys: Record<string, AttributeValue>[]) {
    const command = new BatchGetItemCommand({
      RequestItems: { [TableName]: { Keys, ConsistentRead: true } },
    });
    const { Responses, UnprocessedKeys } = await dynamodb.client.send(command);
    return {
      found: (Responses?.[TableName] ?? []).map(({ subject }) => subject?.S),
      left: (UnprocessedKeys?.[TableName]?.Keys ?? []).map(({ subject }) => subject?.S),
    };
  }

  test('is answered in another order, and now and then in part', async () => {
    for (const subject of subjects) await put(subject);
    const answers = [];
    for (let i = 0; i < 20; i += 1) answers.push(await readAll(subjects.map(keyOf)));
    expect(answers).toContainEqual({ found: ['d', 'c', 'b', 'a'], left: [] });
    expect(answers).toContainEqual({ found: ['b', 'a'], left: ['c', 'd'] });
  });

  test('leaves out what is not there, and refuses the same key twice, or more than 100', async () => {
    await put('a');
    expect(await readAll([keyOf('a')])).toEqual({ found: ['a'], left: [] });
    expect(await readAll([keyOf('gone')])).toEqual({ found: [], left: [] });
    await expect(readAll([keyOf('a'), keyOf('a')])).rejects.toMatchObject(
      invalid('Provided list of item keys contains duplicates'),
    );
    const many = Array.from({ length: 101 }, (_, i) => keyOf(String(i)));
    await expect(readAll(many)).rejects.toMatchObject(invalid('less than or equal to 100'));
  });
});

describe('what is eventually consistent', () => {
  async function isSeen(read: () => Promise<boolean>): Promise<readonly boolean[]> {
    const seen = [];
    for (let i = 0; i < 10; i += 1) seen.push(await read());
    return seen;
  }

  test.each<[string, () => Promise<boolean>]>([
    ['a read', () => readOnce(false)],
    ['a global index', async () => (await query({ IndexName: 'global' })).Items.length > 0],
  ])('lags behind when it is told to, and catches up: %s', async (_, read) => {
    dynamodb.lagBehind(() => 0.99);
    await put('a', { views: { N: '1' } });
    const seen = await isSeen(read);
    expect([seen[0], seen.at(-1)]).toEqual([false, true]);
  });

  test.each<[string, () => Promise<boolean>]>([
    ['a consistent read', () => readOnce(true)],
    [
      'a local index',
      async () => (await query({ IndexName: 'local', ConsistentRead: true })).Items.length > 0,
    ],
  ])('is not %s', async (_, read) => {
    dynamodb.lagBehind(createRandom(1));
    await put('a', { views: { N: '1' } });
    expect(await read()).toBe(true);
  });

  async function readOnce(ConsistentRead: boolean): Promise<boolean> {
    const command = new GetItemCommand({ TableName, Key: keyOf('a'), ConsistentRead });
    return (await dynamodb.client.send(command)).Item !== undefined;
  }
});

test('a request the stand-in does not know all of is refused', async () => {
  await put('a');
  const command = new GetItemCommand({ TableName, Key: keyOf('a'), AttributesToGet: ['forum'] });
  await expect(dynamodb.client.send(command)).rejects.toMatchObject({
    name: 'UnknownOperationException',
    message: 'the stand-in knows no GetItem AttributesToGet',
  });
});
