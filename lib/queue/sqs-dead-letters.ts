import { randomUUID } from 'node:crypto';
import { createStoreFailure } from '../base/store-failure.ts';
import type { BuriedMessage, DeadLetters } from './dead-letters.ts';
import { type SqsClient, type SqsMessage, sendMessage } from './sqs.ts';

/** Long enough to put a batch back, short enough to start over after a crash; there is no other reader. */
const visibilitySeconds = 60;
const waitSeconds = 1;
const batchSize = 10;

/**
 * The dead letters of an SQS FIFO queue.
 *
 * Each message goes back with a new deduplication id: with its old one, SQS would drop it as a duplicate.
 */
export function createSqsDeadLetters(options: {
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
}): DeadLetters {
  const { client, queueUrl, deadLetterUrl } = options;

  async function receive(): Promise<readonly SqsMessage[]> {
    const { Messages = [] } = await client.call('ReceiveMessage', {
      QueueUrl: deadLetterUrl,
      MaxNumberOfMessages: batchSize,
      VisibilityTimeout: visibilitySeconds,
      // Without a wait, SQS asks only some of its servers, and the response may be empty although messages
      // exist.
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['MessageGroupId'],
    });
    return Messages;
  }

  async function putBack({ Body, Attributes, ReceiptHandle }: SqsMessage): Promise<BuriedMessage> {
    const group = Attributes?.['MessageGroupId'] ?? '';
    await sendMessage(client, {
      QueueUrl: queueUrl,
      MessageBody: Body,
      MessageGroupId: group,
      MessageDeduplicationId: randomUUID(),
    });
    // Deleted last: a crash in between leaves the message in both queues, never in none.
    await client.call('DeleteMessage', { QueueUrl: deadLetterUrl, ReceiptHandle });
    return { group, body: Body };
  }

  return {
    async redrive() {
      const redriven: BuriedMessage[] = [];
      try {
        for (let batch = await receive(); batch.length > 0; batch = await receive())
          // One by one, to keep the order within a group.
          for (const message of batch) redriven.push(await putBack(message));
      } catch (error) {
        throw createStoreFailure(
          `${redriven.length} dead letters were put back, and the next one could not be`,
          error,
        );
      }
      return redriven;
    },
  };
}
