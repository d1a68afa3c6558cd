import { hash } from 'node:crypto';
import { type AwsAccess, type AwsService, createAwsClient } from '../base/aws-client.ts';
import { AwsError } from '../base/aws-error.ts';

/** A message as SQS delivers it. */
export interface SqsMessage {
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
}

interface NewMessage {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly MessageGroupId: string;
  readonly MessageDeduplicationId: string;
  readonly MessageAttributes?: Readonly<
    Record<string, { readonly DataType: 'String'; readonly StringValue: string }>
  >;
}

interface OfMessage {
  readonly QueueUrl: string;
  readonly ReceiptHandle: string;
}

/** Operation → its input and output, as far as the relay uses them. */
export interface SqsOperations {
  SendMessage: [NewMessage, { readonly MD5OfMessageBody?: string }];
  ReceiveMessage: [
    {
      readonly QueueUrl: string;
      readonly MaxNumberOfMessages: number;
      readonly VisibilityTimeout: number;
      readonly WaitTimeSeconds: number;
      readonly MessageSystemAttributeNames: readonly string[];
    },
    { readonly Messages?: readonly SqsMessage[] },
  ];
  DeleteMessage: [OfMessage, unknown];
  GetQueueAttributes: [
    { readonly QueueUrl: string; readonly AttributeNames: readonly string[] },
    { readonly Attributes?: Readonly<Record<string, string>> },
  ];
  ChangeMessageVisibility: [OfMessage & { readonly VisibilityTimeout: number }, unknown];
}

export interface SqsClient {
  /** @throws AwsError */
  call<O extends keyof SqsOperations>(operation: O, input: SqsOperations[O][0]): Promise<SqsOperations[O][1]>;
}

/** @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_Operations.html */
const sqs: AwsService = {
  name: 'sqs',
  target: 'AmazonSQS',
  protocol: '1.0',
  promises: {
    SendMessage: { field: 'MD5OfMessageBody', type: 'text' },
    // Of an empty queue, the answer is an empty object.
    ReceiveMessage: { field: 'Messages', type: 'list', isDue: () => false },
    GetQueueAttributes: { field: 'Attributes', type: 'record' },
    DeleteMessage: null,
    ChangeMessageVisibility: null,
  },
};

/** @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-json.html */
export function createSqsClient(access: AwsAccess): SqsClient {
  return createAwsClient(sqs, access) as SqsClient;
}

/**
 * Sends a message and checks that SQS stored the same text.
 *
 * @throws AwsError
 */
export async function sendMessage(client: SqsClient, message: NewMessage): Promise<void> {
  const { MD5OfMessageBody } = await client.call('SendMessage', message);
  if (MD5OfMessageBody === hash('md5', message.MessageBody)) return;
  throw new AwsError('InvalidChecksum', 'SQS stored another text', { content: {}, retry: 'no' });
}
