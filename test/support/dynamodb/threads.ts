import { type AttributeValue, CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect } from '@jest/globals';

/** A table of threads and their replies: `forum` and `subject`, and two indexes. */
export async function createThreads(client: DynamoDBClient): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: 'Thread',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'forum', AttributeType: 'S' },
        { AttributeName: 'subject', AttributeType: 'S' },
        { AttributeName: 'views', AttributeType: 'N' },
      ],
      KeySchema: [
        { AttributeName: 'forum', KeyType: 'HASH' },
        { AttributeName: 'subject', KeyType: 'RANGE' },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: 'local',
          KeySchema: [
            { AttributeName: 'forum', KeyType: 'HASH' },
            { AttributeName: 'views', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'global',
          KeySchema: [
            { AttributeName: 'forum', KeyType: 'HASH' },
            { AttributeName: 'views', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  );
}

export const TableName = 'Thread';

export function keyOf(subject: string): Record<string, AttributeValue> {
  return { forum: { S: 'S3' }, subject: { S: subject } };
}

export function threadOf(subject: string, more: Record<string, AttributeValue> = {}) {
  return { ...keyOf(subject), ...more };
}

export function invalid(message: string | RegExp) {
  return { name: 'ValidationException', message: expectText(message) };
}

function expectText(message: string | RegExp) {
  return typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message);
}
