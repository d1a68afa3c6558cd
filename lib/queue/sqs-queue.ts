import { createStoreFailure } from '../base/store-failure.ts';
import { deduplicationIdOf, groupOf, type SignalQueue } from './queue.ts';
import { type SqsClient, sendMessage } from './sqs.ts';

/**
 * The queue on SQS FIFO. The event source mapping delivers its messages to the function.
 *
 * SQS drops a duplicate within five minutes of the first message, even if that one has already been handled.
 *
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
 */
export function createSqsQueue(options: {
  readonly client: SqsClient;
  readonly queueUrl: string;
}): SignalQueue {
  const { client, queueUrl } = options;
  return {
    async enqueue(message, attempt) {
      const sent = {
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        MessageGroupId: groupOf(message),
        MessageDeduplicationId: deduplicationIdOf(message, attempt),
      };
      try {
        await sendMessage(client, sent);
      } catch (error) {
        throw createStoreFailure('the signal could not be enqueued', error);
      }
    },
  };
}
