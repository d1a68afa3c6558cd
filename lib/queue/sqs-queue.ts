import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { createStoreFailure } from '../base/store-failure.ts';
import { deduplicationIdOf, groupOf, type SignalQueue } from './queue.ts';

/**
 * The queue on SQS FIFO. Its other end is the event source mapping, which hands messages to the function.
 *
 * A double is dropped for five minutes after the first one was sent, also when that one is gone by then.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
 */
export function createSqsQueue(options: {
  readonly client: SQSClient;
  readonly queueUrl: string;
}): SignalQueue {
  const { client, queueUrl } = options;
  return {
    async enqueue(message) {
      const command = new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        MessageGroupId: groupOf(message),
        MessageDeduplicationId: deduplicationIdOf(message),
      });
      try {
        await client.send(command);
      } catch (error) {
        throw createStoreFailure('the signal could not be enqueued', error);
      }
    },
  };
}
