import { describeDynamodbLedger } from '../ledger/dynamodb-contract.ts';
import { startMiniStack } from './ministack.ts';

describeDynamodbLedger('a ledger on DynamoDB', startMiniStack);
