import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { describeDynamodbSnapshots } from './dynamodb-contract.ts';

describeDynamodbSnapshots('snapshots on a local DynamoDB', startDynamodb);
