import { afterEach, describe, expect, test } from '@jest/globals';
import { createDynamodbMarketCopies } from '../../lib/ledger/dynamodb-market-copies.ts';
import type { MarketCopies } from '../../lib/ledger/market-copies.ts';
import {
  answers,
  fails,
  type ScriptedDynamodb,
  startScriptedDynamodb,
} from '../support/scripted-dynamodb.ts';
import type { ScriptStep } from '../support/scripted-server.ts';
import { market } from './market-copies-contract.ts';

describe('the item', () => {
  let dynamodb: ScriptedDynamodb;
  afterEach(() => dynamodb.close());

  async function open(...steps: readonly ScriptStep[]): Promise<MarketCopies> {
    dynamodb = await startScriptedDynamodb(steps);
    return createDynamodbMarketCopies({ client: dynamodb.client, tableName: 'ledger', exchange: 'global' });
  }
  const bodies = () => dynamodb.server.seen.map(({ body }) => JSON.parse(body));
  const Key = { account: { S: '#relay' }, item: { S: 'markets' } };

  test('has a key that no account can have, and no attribute of an index or of the time to live', async () => {
    const copies = await open(answers({}), answers({}));

    await copies.save({ readAtMs: 1, markets: [market] });
    await copies.load();

    expect(bodies()).toEqual([
      {
        TableName: 'ledger',
        Key,
        UpdateExpression: 'SET #copy = :copy',
        ExpressionAttributeNames: { '#copy': 'copy' },
        ExpressionAttributeValues: { ':copy': { S: expect.stringContaining('"exchange":"global"') } },
      },
      { TableName: 'ledger', Key, ConsistentRead: true },
    ]);
  });

  test('stays well below the 400 KB limit of DynamoDB', async () => {
    const copies = await open(answers({}));
    const many = Array.from({ length: 5_000 }, (_, i) => ({ ...market, name: `N${i}_USDT` }));

    await copies.save({ readAtMs: 1, markets: many });

    const text: string = bodies()[0].ExpressionAttributeValues[':copy'].S;
    expect(Buffer.byteLength(text)).toBeGreaterThan(290_000);
    expect(Buffer.byteLength(text)).toBeLessThan(310_000);
  });

  test('that cannot be read or written causes an error with only the kind of the failure', async () => {
    const copies = await open(fails('AccessDeniedException'), fails('ValidationException'));

    await expect(copies.load()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the stored market list could not be read: AccessDeniedException',
    });
    await expect(copies.save({ readAtMs: 1, markets: [market] })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: 'the stored market list could not be written: ValidationException',
    });
  });
});
