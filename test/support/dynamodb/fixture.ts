import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** Where DynamoDB answers: the emulator's, or the stand-in of this process. */
export interface DynamodbFixture {
  readonly clientOptions: DynamoDBClientConfig;
  close(): Promise<void>;
}
