import { createStoreFailure } from '../base/store-failure.ts';
import type { PostponeMessage } from './queue.ts';
import type { SqsClient } from './sqs.ts';

/**
 * Sets the pause before the next delivery of an SQS message. The queue's own pause is much longer, because it
 * must outlast every function that may still be working on a message.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
 */
export function createSqsPostpone(options: {
  readonly client: SqsClient;
  readonly queueUrl: string;
}): PostponeMessage {
  const { client, queueUrl } = options;
  return async (receipt, pauseMs) => {
    const input = {
      QueueUrl: queueUrl,
      ReceiptHandle: receipt,
      VisibilityTimeout: Math.ceil(pauseMs / 1000),
    };
    try {
      await client.call('ChangeMessageVisibility', input);
    } catch (error) {
      throw createStoreFailure('the message could not be postponed', error);
    }
  };
}
