import {
  type AttributeDefinition,
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  type LocalSecondaryIndex,
} from '@aws-sdk/client-dynamodb';
import { type SynthesizedTemplate, synthesize } from '../infra/synthesized.ts';

/** What the stack's template says of the table's keys. */
interface TableKeys {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
  readonly LocalSecondaryIndexes?: LocalSecondaryIndex[];
}

const tableIds = { ledger: 'RelayLedgerTable', snapshots: 'RelaySnapshotsTable' } as const;
type Kind = keyof typeof tableIds;

/** Makes a table with the keys and indexes that the stack gives it. */
export async function createStackTable(client: DynamoDBClient, kind: Kind, name: string): Promise<void> {
  const keys = await readKeys(kind);
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

let known: SynthesizedTemplate['resources'] | null = null;

async function readKeys(kind: Kind): Promise<TableKeys> {
  known ??= (await synthesize()).resources;
  const { Properties } = known[tableIds[kind]] ?? {};
  if (Properties === undefined) throw new Error(`the template has no ${tableIds[kind]}`);
  return Properties as unknown as TableKeys;
}
