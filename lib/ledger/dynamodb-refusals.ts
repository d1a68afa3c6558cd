import { refusalPrefixOf } from '../model/refusal-prefix.ts';
import { entryOf, keyItem } from './dynamodb-items.ts';
import type { DynamodbTable } from './dynamodb-table.ts';
import type { Entry } from './entry.ts';
import { mostRefusals, sortNewestFirst } from './refusals.ts';

/** The refused alerts that carried this id: they stand side by side in the table itself. */
export async function queryRefusals(
  table: DynamodbTable,
  account: string,
  alertId: string,
): Promise<readonly Entry[]> {
  const { account: partition = { S: account }, item: prefix = { S: '' } } = keyItem({
    account,
    signalId: refusalPrefixOf(alertId),
  });
  const { items } = await table.query({
    KeyConditionExpression: '#account = :account AND begins_with(#item, :prefix)',
    ExpressionAttributeValues: { ':account': partition, ':prefix': prefix },
    ConsistentRead: true,
    Limit: mostRefusals,
  });
  return sortNewestFirst(items.map(entryOf));
}
