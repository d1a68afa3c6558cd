import { type DynamodbClient, type Item, textAttribute } from '../base/dynamodb.ts';
import { DynamodbTable, isNew } from '../base/dynamodb-table.ts';
import { type Json, parseOwnJson } from '../base/json.ts';
import type { AllAccountFacts, ContestedFacts } from './account-facts.ts';
import { factKeyItem } from './dynamodb-items.ts';

/** Facts are items of the ledger's table. They are written by updates, as the ledger's steps are. */
export function createDynamodbAccountFacts(options: {
  readonly client: DynamodbClient;
  readonly tableName: string;
}): AllAccountFacts & ContestedFacts {
  const table = new DynamodbTable({ ...options, contents: 'what is known of the account' });
  return {
    async read(account, name) {
      const item = await table.get(factKeyItem(account, name));
      return item === null ? null : factOf(item);
    },
    async readOfAll(accounts, name) {
      const items = await table.getMany(accounts.map((account) => factKeyItem(account, name)));
      const facts = new Map(items.map((item) => [textAttribute(item, 'account'), factOf(item)]));
      return accounts.map((account) => facts.get(account) ?? null);
    },
    async write(account, name, fact) {
      const values = { ':fact': { S: JSON.stringify(fact) } };
      await table.update({ Key: factKeyItem(account, name), set: 'SET #fact = :fact', values });
    },
    async replace(account, name, fact, was) {
      const values = { ':fact': { S: JSON.stringify(fact) } };
      const { done } = await table.update({
        Key: factKeyItem(account, name),
        set: 'SET #fact = :fact',
        condition: was === null ? isNew : '#fact = :was',
        values: was === null ? values : { ...values, ':was': { S: JSON.stringify(was) } },
      });
      return done;
    },
  };
}

function factOf(item: Item): Json {
  return parseOwnJson(textAttribute(item, 'fact'));
}
