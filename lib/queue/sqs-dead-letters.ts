import { randomUUID } from 'node:crypto';
import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { createStoreFailure } from '../base/store-failure.ts';
import type { BuriedMessage, DeadLetters } from './dead-letters.ts';

/** Nobody else reads dead letters: long enough to put a batch back, short enough to start over after a crash. */
const visibilitySeconds = 60;
const waitSeconds = 2;
const batchSize = 10;

/**
 * The dead letters of an SQS FIFO queue.
 *
 * Each goes back under an id of its own: the queue would take the id it had for a double, and drop it.
 */
export function createSqsDeadLetters(options: {
  readonly client: SQSClient;
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
}): DeadLetters {
  const { client, queueUrl, deadLetterUrl } = options;

  async function receive(): Promise<readonly Message[]> {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: deadLetterUrl,
        MaxNumberOfMessages: batchSize,
        VisibilityTimeout: visibilitySeconds,
        // Without waiting only some servers are asked, and the response may be empty while letters wait elsewhere.
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['MessageGroupId'],
      }),
    );
    return Messages;
  }

  async function putBack({ Body = '', Attributes, ReceiptHandle }: Message): Promise<BuriedMessage> {
    const group = Attributes?.MessageGroupId ?? '';
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: Body,
        MessageGroupId: group,
        MessageDeduplicationId: randomUUID(),
      }),
    );
    // Only now: a crash in between leaves it in both queues, never in none.
    await client.send(new DeleteMessageCommand({ QueueUrl: deadLetterUrl, ReceiptHandle }));
    return { group, body: Body };
  }

  return {
    async redrive() {
      const redriven: BuriedMessage[] = [];
      try {
        for (let batch = await receive(); batch.length > 0; batch = await receive())
          // One by one: within a group the order is what counts.
          for (const message of batch) redriven.push(await putBack(message));
      } catch (error) {
        throw createStoreFailure(
          `after ${redriven.length} dead letters the next could not be put back`,
          error,
        );
      }
      return redriven;
    },
  };
}
