import {
  type AttributeDefinition,
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  type LocalSecondaryIndex,
} from '@aws-sdk/client-dynamodb';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { LedgerTable } from '../../infra/aws/ledger-table.ts';
import { SnapshotTable } from '../../infra/aws/snapshot-table.ts';

/** What the stack's template says of the table's keys. */
interface TableKeys {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
  readonly LocalSecondaryIndexes?: LocalSecondaryIndex[];
}

const tables = { ledger: LedgerTable, snapshots: SnapshotTable } as const;
type Kind = keyof typeof tables;

/** Makes a table with the keys and indexes that the stack gives it. */
export async function createStackTable(client: DynamoDBClient, kind: Kind, name: string): Promise<void> {
  const keys = readKeys(kind);
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: keys.AttributeDefinitions,
      KeySchema: keys.KeySchema,
      GlobalSecondaryIndexes: keys.GlobalSecondaryIndexes,
      LocalSecondaryIndexes: keys.LocalSecondaryIndexes,
    }),
  );
}

export async function deleteTable(client: DynamoDBClient, name: string): Promise<void> {
  await client.send(new DeleteTableCommand({ TableName: name }));
}

const known = new Map<Kind, TableKeys>();

function readKeys(kind: Kind): TableKeys {
  const keys = known.get(kind) ?? synthesizeKeys(kind);
  known.set(kind, keys);
  return keys;
}

function synthesizeKeys(kind: Kind): TableKeys {
  const stack = new Stack(new App(), 'Stack');
  new tables[kind](stack, 'Part');
  const [table] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable'));
  return table?.['Properties'] as TableKeys;
}
