import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item, in the types of DynamoDB's own client. */
export type Item = Record<string, AttributeValue>;
