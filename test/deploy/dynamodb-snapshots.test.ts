import { describeDynamodbSnapshots } from '../snapshots/dynamodb-contract.ts';
import { startMiniStack } from './ministack.ts';

describeDynamodbSnapshots('snapshots on DynamoDB', startMiniStack);
