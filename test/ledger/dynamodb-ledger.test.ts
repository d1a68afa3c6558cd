import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { type LocalDynamodb, startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable, deleteTable } from '../support/stack-tables.ts';
import { describeLedger } from './ledger-contract.ts';
import { describeLooks } from './look-contract.ts';
import { describeStateMachine } from './state-machine.ts';

let dynamodb: LocalDynamodb;

beforeAll(async () => {
  dynamodb = await startDynamodb();
});
afterAll(() => dynamodb.close());

async function open() {
  const { client } = dynamodb;
  const tableName = `ledger-${randomUUID()}`;
  await createStackTable(client, 'ledger', tableName);
  const openLedger = () => createDynamodbLedger({ client, tableName, keepDays: 400 });
  return {
    ledger: openLedger(),
    other: openLedger(),
    reopen: async () => openLedger(),
    close: () => deleteTable(client, tableName),
  };
}

describeLedger('a ledger on a local DynamoDB', open);
describeLooks('a ledger on a local DynamoDB', open);
describeStateMachine('a ledger on a local DynamoDB', open);
