import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { namesIn, textOf } from '../base/dynamodb.ts';
import { createStoreFailure } from '../base/store-failure.ts';
import { formatCopy, type MarketCopies, parseCopy } from './market-copies.ts';

/** No account can have this name, and no index of the ledger contains the item. */
const itemKey = { account: { S: '#relay' }, item: { S: 'markets' } };

/**
 * The stored copy of the market list: one item in the ledger's table that never expires. It is written by an
 * update, as the ledger's steps are, so that execute-signal needs no other permission.
 *
 * @param options `exchange`: the address of the exchange that the list comes from
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
  throw createStoreFailure('the stored market list could not be read', error);
}

function failWriting(error: unknown): never {
  throw createStoreFailure('the stored market list could not be written', error);
}
