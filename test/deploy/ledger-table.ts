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

/** What the stack's template says of the table's keys. */
interface TableKeys {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes: GlobalSecondaryIndex[];
  readonly LocalSecondaryIndexes: LocalSecondaryIndex[];
}

/** A table with the keys and indexes that the stack gives it. */
export async function createLedgerTable(client: DynamoDBClient, name: string): Promise<void> {
  const keys = readTemplate();
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

export async function deleteLedgerTable(client: DynamoDBClient, name: string): Promise<void> {
  await client.send(new DeleteTableCommand({ TableName: name }));
}

let template: TableKeys | null = null;

function readTemplate(): TableKeys {
  if (template === null) {
    const stack = new Stack(new App(), 'Stack');
    new LedgerTable(stack, 'Ledger');
    const [table] = Object.values(Template.fromStack(stack).findResources('AWS::DynamoDB::GlobalTable'));
    template = table?.['Properties'] as TableKeys;
  }
  return template;
}
