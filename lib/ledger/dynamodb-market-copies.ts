import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { namesIn, textOf } from '../base/dynamodb.ts';
import { createStoreFailure } from '../base/store-failure.ts';
import { formatCopy, type MarketCopies, parseCopy } from './market-copies.ts';

/** No account of the configuration can be called that, and no index of the ledger has the item. */
const itemKey = { account: { S: '#relay' }, item: { S: 'markets' } };

/**
 * The copy of the market list in the ledger's table: one item, which never expires. It is written as the ledger's
 * steps are, by an update, so that who executes signals needs no other permission.
 *
 * @param options `exchange`: the address the list comes from
 */
export function createDynamodbMarketCopies(options: {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly exchange: string;
}): MarketCopies {
  const { client, tableName, exchange } = options;
  return {
    async load() {
      const command = new GetItemCommand({ TableName: tableName, Key: itemKey });
      const { Item: item } = await client.send(command).catch(failReading);
      return item === undefined ? null : parseCopy(exchange, textOf(item, 'copy'));
    },
    async save(copy) {
      const change = 'SET #copy = :copy';
      const command = new UpdateItemCommand({
        TableName: tableName,
        Key: itemKey,
        UpdateExpression: change,
        ExpressionAttributeNames: namesIn(change),
        ExpressionAttributeValues: { ':copy': { S: formatCopy(exchange, copy) } },
      });
      await client.send(command).catch(failWriting);
    },
  };
}

function failReading(error: unknown): never {
  throw createStoreFailure('the kept market list could not be read', error);
}

function failWriting(error: unknown): never {
  throw createStoreFailure('the kept market list could not be written', error);
}
