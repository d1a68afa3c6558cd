import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { createStoreFailure } from '../base/store-failure.ts';
import type { PostponeMessage } from './queue.ts';

/**
 * Postpones messages of an SQS queue, whose own pause has to outlast every function that may still be at work on one.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
 */
export function createSqsPostpone(options: {
  readonly client: SQSClient;
  readonly queueUrl: string;
}): PostponeMessage {
  const { client, queueUrl } = options;
  return async (receipt, pauseMs) => {
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receipt,
      VisibilityTimeout: Math.ceil(pauseMs / 1000),
    });
    try {
      await client.send(command);
    } catch (error) {
      throw createStoreFailure('the message could not be postponed', error);
    }
  };
}
