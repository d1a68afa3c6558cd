import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { createDynamodbSnapshots } from '../../lib/snapshots/dynamodb-snapshots.ts';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable, deleteTable } from '../support/stack-tables.ts';
import { describeSnapshots } from './snapshots-contract.ts';

let dynamodb: LocalDynamodb;

beforeAll(async () => {
  dynamodb = await startDynamodb();
});
afterAll(() => dynamodb.close());

describeSnapshots('snapshots on a local DynamoDB', async () => {
  const { client } = dynamodb;
  const tableName = `snapshots-${randomUUID()}`;
  await createStackTable(client, 'snapshots', tableName);
  const openStore = () => createDynamodbSnapshots({ client, tableName });
  return {
    store: openStore(),
    reopen: async () => openStore(),
    close: () => deleteTable(client, tableName),
  };
});
