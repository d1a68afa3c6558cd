import { createStoreFailure } from '../base/store-failure.ts';
import { coldStartAttribute, deduplicationIdOf, groupOf, type SignalQueue } from './queue.ts';
import { type SqsClient, sendMessage } from './sqs.ts';

const metColdStart = { [coldStartAttribute]: { DataType: 'String', StringValue: 'true' } } as const;

/**
 * The queue on SQS FIFO. The event source mapping delivers its messages to the function. SQS drops a duplicate within five
 * minutes of the first message, even if that one has already been handled.
 *
 * @param options.start of the function that sends; a message says when its signal met a cold start there
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html
 */
export function createSqsQueue(options: {
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly start?: { readonly isCold: boolean };
}): SignalQueue {
  const { client, queueUrl, start } = options;
  return {
    async enqueue(message, attempt) {
      const sent = {
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        MessageGroupId: groupOf(message),
        MessageDeduplicationId: deduplicationIdOf(message, attempt),
        ...(start?.isCold === true ? { MessageAttributes: metColdStart } : {}),
      };
      try {
        await sendMessage(client, sent);
      } catch (error) {
        throw createStoreFailure('the signal could not be enqueued', error);
      }
    },
  };
}
