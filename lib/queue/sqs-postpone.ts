import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { createStoreFailure } from '../base/store-failure.ts';
import type { PostponeMessage } from './queue.ts';

/**
 * Sets the pause before the next delivery of an SQS message. The queue's own pause is much longer, because it
 * must outlast every function that may still be working on a message.
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
