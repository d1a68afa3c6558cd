import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type LocalDynamodb, startDynamodb } from './start-dynamodb.ts';
import { createThreads, invalid, keyOf, TableName, threadOf } from './threads.ts';

let dynamodb: LocalDynamodb;

beforeEach(async () => {
  dynamodb = await startDynamodb();
  await createThreads(dynamodb.client);
});
afterEach(() => dynamodb.close());

type Values = Record<string, AttributeValue>;

async function put(subject: string, more: Values = {}): Promise<void> {
  await dynamodb.client.send(new PutItemCommand({ TableName, Item: threadOf(subject, more) }));
}

async function read(subject: string): Promise<Values | undefined> {
  const command = new GetItemCommand({ TableName, Key: keyOf(subject), ConsistentRead: true });
  return (await dynamodb.client.send(command)).Item;
}

async function update(subject: string, UpdateExpression: string, ExpressionAttributeValues?: Values) {
  const input = { TableName, Key: keyOf(subject), UpdateExpression, ReturnValues: 'ALL_NEW' as const };
  const command = new UpdateItemCommand(
    ExpressionAttributeValues === undefined ? input : { ...input, ExpressionAttributeValues },
  );
  return (await dynamodb.client.send(command)).Attributes;
}

/** Whether the condition holds of the item that is there. */
async function holds(ConditionExpression: string, ExpressionAttributeValues?: Values): Promise<boolean> {
  const input = { TableName, Key: keyOf('a'), ConditionExpression };
  const command = new UpdateItemCommand(
    ExpressionAttributeValues === undefined ? input : { ...input, ExpressionAttributeValues },
  );
  return dynamodb.client.send(command).then(
    () => true,
    (error: Error) => {
      if (error.name === 'ConditionalCheckFailedException') return false;
      throw error;
    },
  );
}

describe('a condition', () => {
  beforeEach(() =>
    put('a', {
      views: { N: '5' },
      title: { S: 'żółw' },
      tags: { L: [{ S: 'x' }, { N: '1' }] },
      votes: { M: { up: { N: '2' }, down: { N: '0' } } },
      answered: { BOOL: false },
    }),
  );
  const v = (value: AttributeValue, more: Values = {}) => ({ ':v': value, ...more });

  test.each<[boolean, string, Values | undefined]>([
    [true, 'attribute_exists(views)', undefined],
    [false, 'attribute_not_exists(views)', undefined],
    [true, 'attribute_not_exists(votes.sideways)', undefined],
    [true, 'attribute_exists(tags[1])', undefined],
    [true, 'votes.up = :v', v({ N: '2.0' })],
    [true, 'views BETWEEN :v AND :w', v({ N: '5' }, { ':w': { N: '5' } })],
    [true, 'views IN (:v, :w)', v({ N: '4' }, { ':w': { N: '5' } })],
    [false, 'views > :v', v({ N: '10' })],
    [false, 'views > :v', v({ S: '1' })],
    [true, 'begins_with(title, :v)', v({ S: 'żó' })],
    [true, 'contains(tags, :v)', v({ S: 'x' })],
    [true, 'size(votes) = :v', v({ N: '2' })],
    [true, 'size(tags) < :v', v({ N: '3' })],
    // What is not there compares with nothing, and differs from everything.
    [false, 'nowhere < :v', v({ N: '1' })],
    [true, 'nowhere <> :v', v({ N: '1' })],
    [false, 'size(nowhere) < :v', v({ N: '1' })],
    // NOT before AND, AND before OR.
    [true, 'views = :v OR views = :v AND answered = :no', v({ N: '5' }, { ':no': { BOOL: true } })],
    [false, '(views = :v OR views = :v) AND answered = :no', v({ N: '5' }, { ':no': { BOOL: true } })],
    [false, 'NOT views = :v AND views = :v', v({ N: '5' })],
  ])('is %s: %s', async (expected, condition, values) => {
    expect(await holds(condition, values)).toBe(expected);
  });

  test('that does not hold gives back what stood against it, when asked', async () => {
    const input = {
      TableName,
      Item: threadOf('a'),
      ConditionExpression: 'attribute_not_exists(forum)',
    };
    const silent = dynamodb.client.send(new PutItemCommand(input));
    await expect(silent).rejects.toMatchObject({
      message: 'The conditional request failed',
      Item: undefined,
    });
    const telling = dynamodb.client.send(
      new PutItemCommand({ ...input, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
    );
    await expect(telling).rejects.toMatchObject({ Item: { views: { N: '5' } } });
    expect(await read('a')).toHaveProperty('title');
  });

  test.each([
    [
      'status = :v',
      'Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: status',
    ],
    ['name = :v', 'Attribute name is a reserved keyword; reserved keyword: name'],
    ['items = :v', 'Attribute name is a reserved keyword; reserved keyword: items'],
    ['#a = :v', 'An expression attribute name used in the document path is not defined; attribute name: #a'],
    ['views = :w', 'An expression attribute value used in expression is not defined; attribute value: :w'],
    [
      'attribute_exists(views)',
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}',
    ],
    ['views = = :v', 'Syntax error; token: "="'],
    ['views = :v AND', 'Syntax error; token: "<EOF>"'],
    ['near(views, :v)', 'Invalid function name; function: near'],
    [
      'begins_with(views, :v)',
      'Incorrect operand type for operator or function; operator or function: begins_with',
    ],
  ])('is refused when it is written %s', async (condition, message) => {
    await expect(holds(condition, { ':v': { N: '1' } })).rejects.toMatchObject(invalid(message));
  });
});

describe('an update', () => {
  beforeEach(() => put('a', { views: { N: '5' }, tags: { L: [{ S: 'x' }, { S: 'y' }, { S: 'z' }] } }));

  test('sets what is read from the item as it was', async () => {
    const values = { ':one': { N: '1' }, ':more': { L: [{ S: 'w' }] }, ':none': { N: '0' } };
    const set =
      'SET views = views + :one, seen = views, tags = list_append(tags, :more), votes = if_not_exists(votes, :none)';
    expect(await update('a', set, values)).toEqual({
      ...keyOf('a'),
      views: { N: '6' },
      seen: { N: '5' },
      tags: { L: [{ S: 'x' }, { S: 'y' }, { S: 'z' }, { S: 'w' }] },
      votes: { N: '0' },
    });
  });

  test('removes, and adds to a number that is there or not', async () => {
    const after = await update('a', 'REMOVE tags[0], tags[1] ADD views :two, likes :two', {
      ':two': { N: '2' },
    });
    expect(after).toEqual({ ...keyOf('a'), views: { N: '7' }, likes: { N: '2' }, tags: { L: [{ S: 'z' }] } });
  });

  test('makes an item that was not there', async () => {
    expect(await update('new', 'SET views = :one', { ':one': { N: '1.50' } })).toEqual({
      ...keyOf('new'),
      views: { N: '1.5' },
    });
  });

  test.each([
    ['SET seen = nowhere', 'The provided expression refers to an attribute that does not exist in the item'],
    ['SET votes.up = views', 'The document path provided in the update expression is invalid for update'],
    ['SET views = tags + views', 'An operand in the update expression has an incorrect data type'],
    ['SET subject = views', 'Cannot update attribute subject. This attribute is part of the key'],
    ['SET views = tags', 'Type mismatch for Index Key views Expected: N Actual: L IndexName: local'],
    ['SET seen = views, seen = tags', 'Two document paths overlap with each other'],
    ['REMOVE tags, tags[0]', 'Two document paths overlap with each other'],
    ['REMOVE seen REMOVE tags', 'The "REMOVE" section can only be used once in an update expression'],
    ['SET status = views', 'Attribute name is a reserved keyword; reserved keyword: status'],
  ])('is refused, and changes nothing: %s', async (expression, message) => {
    const before = await read('a');
    await expect(update('a', expression)).rejects.toMatchObject(invalid(message));
    expect(await read('a')).toEqual(before);
  });
});

describe('an item', () => {
  // The names forum, subject and text, and the values S3 and a: 19 bytes beside the text itself.
  const text = (bytes: number) => ({ text: { S: 'x'.repeat(bytes) } });

  test('of 400 KB is taken, and of a byte more is not', async () => {
    await put('a', text(409_600 - 19));
    await expect(put('a', text(409_600 - 18))).rejects.toMatchObject(
      invalid('Item size has exceeded the maximum allowed size'),
    );
  });

  test('counts twice when a local index repeats it', async () => {
    await put('a', { ...text(204_800 - 26), views: { N: '5' } });
    await expect(put('a', { ...text(204_800 - 25), views: { N: '5' } })).rejects.toMatchObject(
      invalid('Item size has exceeded the maximum allowed size'),
    );
  });

  test.each<[string, Values, string]>([
    ['an empty key', { subject: { S: '' } }, 'cannot contain an empty string value. Key: subject'],
    ['a key of another type', { subject: { N: '1' } }, 'Type mismatch for key subject expected: S actual: N'],
    ['too long a key', { subject: { S: 'x'.repeat(1025) } }, 'size limit of 1024 bytes'],
    ['an index key of another type', { views: { S: '1' } }, 'Type mismatch for Index Key views'],
    ['too many digits', { n: { N: '1'.repeat(39) } }, 'more than 38 significant digits'],
    ['too large a number', { n: { N: '1e126' } }, 'Number overflow'],
    ['an empty set', { set: { SS: [] } }, 'may not be empty'],
  ])('is refused for %s', async (_, more, message) => {
    await expect(put('a', more)).rejects.toMatchObject(invalid(message));
  });

  test('is given back as it was when it is deleted', async () => {
    await put('a', { views: { N: '5' } });
    const command = new DeleteItemCommand({ TableName, Key: keyOf('a'), ReturnValues: 'ALL_OLD' });
    expect((await dynamodb.client.send(command)).Attributes).toEqual(threadOf('a', { views: { N: '5' } }));
    expect(await read('a')).toBeUndefined();
  });
});
