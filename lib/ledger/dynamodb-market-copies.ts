import { type DynamodbClient, textAttribute } from '../base/dynamodb.ts';
import { DynamodbTable } from '../base/dynamodb-table.ts';
import { formatCopy, type MarketCopies, parseCopy } from './market-copies.ts';

/** No account can have this name, and no index of the ledger contains the item. */
const key = { account: { S: '#relay' }, item: { S: 'markets' } };

/**
 * The stored copy of the market list: one item in the ledger's table that never expires. It is written by an
 * update, as the ledger's steps are, so that execute-signal needs no other permission.
 *
 * @param options `exchange`: the address of the exchange that the list comes from
 */
export function createDynamodbMarketCopies(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
  readonly exchange: string;
}): MarketCopies {
  const { exchange, ...place } = options;
  const table = new DynamodbTable({ ...place, contents: 'the stored market list' });
  return {
    async load() {
      const item = await table.get(key);
      return item === null ? null : parseCopy(exchange, textAttribute(item, 'copy'));
    },
    async save(copy) {
      const values = { ':copy': { S: formatCopy(exchange, copy) } };
      await table.update({ Key: key, set: 'SET #copy = :copy', values });
    },
  };
}
