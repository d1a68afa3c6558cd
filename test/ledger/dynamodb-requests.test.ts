import { afterEach, describe, expect, test } from '@jest/globals';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { readRefusals } from '../../lib/ledger/refusals.ts';
import { acceptOne } from '../support/accept-one.ts';
import {
  answers,
  fails,
  type ScriptedDynamodb,
  startScriptedDynamodb,
} from '../support/scripted-dynamodb.ts';
import type { ScriptStep } from '../support/scripted-server.ts';
import { orderEntry } from './ledger-contract.ts';

let dynamodb: ScriptedDynamodb;
afterEach(() => dynamodb.close());

const seenBodies = () => dynamodb.server.seen.map(({ body }) => JSON.parse(body));

describe('a ledger on DynamoDB', () => {
  test('does not count for ever when it is overtaken every time', async () => {
    dynamodb = await startScriptedDynamodb([
      fails('ConditionalCheckFailedException'),
      answers({ Responses: {} }),
      ...Array<ScriptStep>(200).fill(fails('ConditionalCheckFailedException')),
    ]);
    const ledger = createDynamodbLedger({ client: dynamodb.client, tableName: 'ledger', keepDays: 1 });
    await expect(acceptOne(ledger, orderEntry('a'), { maxPerMinute: 5 })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the ledger could not count this minute: too many concurrent writes',
    });
  });

  test('asks for the refusals of an id by the beginning of their keys, ten at most', async () => {
    dynamodb = await startScriptedDynamodb([answers({ Items: [] })]);
    const ledger = createDynamodbLedger({ client: dynamodb.client, tableName: 'ledger', keepDays: 1 });
    expect(await readRefusals(ledger, 'main', 'a')).toEqual([]);
    expect(seenBodies()).toEqual([
      {
        TableName: 'ledger',
        KeyConditionExpression: '#account = :account AND begins_with(#item, :prefix)',
        ExpressionAttributeNames: { '#account': 'account', '#item': 'item' },
        ExpressionAttributeValues: { ':account': { S: 'main' }, ':prefix': { S: 'signal#a@' } },
        ConsistentRead: true,
        Limit: 10,
      },
    ]);
  });

  test('counts nothing without a limit: a signal is stored by one request', async () => {
    dynamodb = await startScriptedDynamodb([answers({})]);
    const ledger = createDynamodbLedger({ client: dynamodb.client, tableName: 'ledger', keepDays: 1 });
    expect((await acceptOne(ledger, orderEntry('a'), null)).result).toBe('created');
    expect(seenBodies().map((body) => Object.keys(body).includes('Item'))).toEqual([true]);
  });

  test('gives a place back when the signal was stored before, unless something was counted meanwhile', async () => {
    const stored = { account: { S: 'main' }, item: { S: 'signal#a' }, fingerprint: { S: 'f1' } };
    dynamodb = await startScriptedDynamodb([
      answers({ Attributes: {} }),
      fails('ConditionalCheckFailedException', { Item: stored }),
      fails('ConditionalCheckFailedException'),
      answers({ Responses: { ledger: [{ ...stored, status: { S: 'placed' }, steps: { L: [] } }] } }),
    ]);
    const ledger = createDynamodbLedger({ client: dynamodb.client, tableName: 'ledger', keepDays: 1 });

    expect((await acceptOne(ledger, orderEntry('a'), { maxPerMinute: 5 })).result).toBe('exists');

    expect(seenBodies()[2]).toMatchObject({
      UpdateExpression: 'REMOVE #times.#name0 ADD #version :one',
      ConditionExpression: '#version = :version',
    });
  });
});
