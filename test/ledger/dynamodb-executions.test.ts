import { createDynamodbAccountFacts } from '../../lib/ledger/dynamodb-account-facts.ts';
import { createDynamodbExecutions } from '../../lib/ledger/dynamodb-executions.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { describeAccountFacts } from './account-facts-contract.ts';
import { describeExecutions } from './executions-contract.ts';

describeExecutions('executions in DynamoDB', async () => {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const options = { client: dynamodb.relayClient, tableName: 'ledger', keepDays: 400 };
  return {
    ledger: createDynamodbLedger(options),
    executions: createDynamodbExecutions(options),
    close: () => dynamodb.close(),
  };
});

describeAccountFacts('facts of an account in DynamoDB', async () => {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const facts = createDynamodbAccountFacts({ client: dynamodb.relayClient, tableName: 'ledger' });
  return { facts, close: () => dynamodb.close() };
});
