import { type DynamodbClient, textAttribute } from '../base/dynamodb.ts';
import { DynamodbTable } from '../base/dynamodb-table.ts';
import { parseOwnJson } from '../base/json.ts';
import type { AccountFacts } from './account-facts.ts';
import { factKeyItem } from './dynamodb-items.ts';

/** Facts are items of the ledger's table. They are written by updates, as the ledger's steps are. */
export function createDynamodbAccountFacts(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
}): AccountFacts {
  const table = new DynamodbTable({ ...options, contents: 'what is known of the account' });
  return {
    async read(account, name) {
      const item = await table.get(factKeyItem(account, name));
      return item === null ? null : parseOwnJson(textAttribute(item, 'fact'));
    },
    async write(account, name, fact) {
      const values = { ':fact': { S: JSON.stringify(fact) } };
      await table.update({ Key: factKeyItem(account, name), set: 'SET #fact = :fact', values });
    },
  };
}
