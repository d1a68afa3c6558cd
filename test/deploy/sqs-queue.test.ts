import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Delivery } from '../../lib/queue/queue.ts';
import { createSqsQueue } from '../../lib/queue/sqs-queue.ts';
import {
  describeQueue,
  idsOf,
  maxReceives,
  message,
  type QueueEnds,
  type QueueFixture,
} from '../queue/queue-contract.ts';
import { type MiniStack, startMiniStack } from './ministack.ts';

let aws: MiniStack;
let client: SQSClient;

beforeAll(async () => {
  aws = await startMiniStack();
  client = new SQSClient(aws.clientOptions);
}, 180_000);

afterAll(async () => {
  client.destroy();
  await aws.close();
});

async function createQueue(name: string, attributes: Record<string, string> = {}): Promise<string> {
  const Attributes = { FifoQueue: 'true', VisibilityTimeout: '60', ...attributes };
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({ QueueName: `${name}-${randomUUID()}.fifo`, Attributes }),
  );
  return QueueUrl ?? '';
}

async function createQueuePair(): Promise<{ readonly queueUrl: string; readonly deadUrl: string }> {
  const deadUrl = await createQueue('dead');
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: deadUrl, AttributeNames: ['QueueArn'] }),
  );
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: Attributes?.['QueueArn'],
    maxReceiveCount: maxReceives,
  });
  return { deadUrl, queueUrl: await createQueue('signals', { RedrivePolicy }) };
}

async function receiveFrom(queueUrl: string, maxMessages: number): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: maxMessages,
      WaitTimeSeconds: 0,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages;
}

function toDelivery({ ReceiptHandle, Body, Attributes }: Message): Delivery {
  return {
    receipt: ReceiptHandle ?? '',
    body: Body ?? '',
    group: Attributes?.MessageGroupId ?? '',
    receiveCount: Number(Attributes?.ApproximateReceiveCount),
    sentAtMs: Number(Attributes?.SentTimestamp),
  };
}

/** What the event source mapping does on AWS: receive, delete what was handled, let go of what was not. */
function openEnds(queueUrl: string, inFlight: Set<string>): QueueEnds {
  return {
    queue: createSqsQueue({ client, queueUrl }),
    source: {
      async receive(maxMessages) {
        const deliveries = (await receiveFrom(queueUrl, maxMessages)).map(toDelivery);
        for (const { receipt } of deliveries) inFlight.add(receipt);
        return deliveries;
      },
      async remove(receipts) {
        for (const ReceiptHandle of receipts) {
          await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
          inFlight.delete(ReceiptHandle);
        }
      },
      release: (receipts) => letGo(queueUrl, receipts, inFlight),
    },
  };
}

async function letGo(queueUrl: string, receipts: Iterable<string>, inFlight: Set<string>): Promise<void> {
  for (const ReceiptHandle of [...receipts]) {
    const command = { QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 };
    await client.send(new ChangeMessageVisibilityCommand(command));
    inFlight.delete(ReceiptHandle);
  }
}

async function openFixture(): Promise<QueueFixture> {
  const { queueUrl, deadUrl } = await createQueuePair();
  const inFlight = new Set<string>();
  return {
    ...openEnds(queueUrl, inFlight),
    rest: async () => undefined,
    deadLetterBodies: async () => (await receiveFrom(deadUrl, 10)).map(({ Body = '' }) => Body),
    async reopen() {
      // Stands in for the end of the visibility time-out, after which SQS lets go of what a crash left.
      await letGo(queueUrl, inFlight, inFlight);
      return openEnds(queueUrl, inFlight);
    },
    close: async () => undefined,
  };
}

describeQueue('a queue on SQS FIFO', openFixture);

test('a message that was handled is not doubled for five minutes, should a resend enqueue it again', async () => {
  const { queue, source } = await openFixture();
  await queue.enqueue(message('a'));
  await source.remove((await source.receive(1)).map(({ receipt }) => receipt));
  await queue.enqueue(message('a'));
  await queue.enqueue(message('b'));
  expect(idsOf(await source.receive(10))).toEqual(['b']);
});

test('a queue that is not there says that nothing was enqueued, and names nothing', async () => {
  const { queueUrl } = await createQueuePair();
  const queue = createSqsQueue({ client, queueUrl: `${queueUrl}-gone` });
  await expect(queue.enqueue(message('a'))).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^the signal could not be enqueued: [A-Za-z]+$/),
  });
});
