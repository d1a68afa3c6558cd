import type { AwsCredentials } from '../../../lib/base/aws-client.ts';

/** Where DynamoDB answers: the emulator's, or the stand-in of this process. */
export interface DynamodbFixture {
  /** Of an SDK client. */
  readonly clientOptions: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: AwsCredentials;
  };
  close(): Promise<void>;
}
