import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SqsClient } from '../../lib/queue/sqs.ts';
import { createSqsDeadLetters } from '../../lib/queue/sqs-dead-letters.ts';
import { createSqsQueue } from '../../lib/queue/sqs-queue.ts';
import type { DeadLettersFixture } from '../queue/dead-letters-contract.ts';
import { type Delivery, maxReceives, type QueueEnds } from '../queue/queue-contract.ts';

/** AWS's own client, which makes queues and does what the event source mapping does, and the relay's. */
export interface SqsClients {
  readonly sdk: SQSClient;
  readonly relay: SqsClient;
}

async function createQueue(
  client: SQSClient,
  name: string,
  attributes: Record<string, string> = {},
): Promise<string> {
  const Attributes = { FifoQueue: 'true', VisibilityTimeout: '60', ...attributes };
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({ QueueName: `${name}-${randomUUID()}.fifo`, Attributes }),
  );
  return QueueUrl ?? '';
}

/** A queue and its dead letters. */
export async function createQueuePair(
  client: SQSClient,
): Promise<{ readonly queueUrl: string; readonly deadUrl: string }> {
  const deadUrl = await createQueue(client, 'dead');
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: deadUrl, AttributeNames: ['QueueArn'] }),
  );
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: Attributes?.['QueueArn'],
    maxReceiveCount: maxReceives,
  });
  return { deadUrl, queueUrl: await createQueue(client, 'signals', { RedrivePolicy }) };
}

async function receiveFrom(
  client: SQSClient,
  queueUrl: string,
  maxMessages: number,
): Promise<readonly Message[]> {
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
  };
}

/** What the event source mapping does on AWS: receive, delete what was handled, let go of what was not. */
function openEnds({ sdk, relay }: SqsClients, queueUrl: string, inFlight: Set<string>): QueueEnds {
  return {
    queue: createSqsQueue({ client: relay, queueUrl }),
    source: {
      async receive(maxMessages) {
        const deliveries = (await receiveFrom(sdk, queueUrl, maxMessages)).map(toDelivery);
        for (const { receipt } of deliveries) inFlight.add(receipt);
        return deliveries;
      },
      async remove(receipts) {
        for (const ReceiptHandle of receipts) {
          await sdk.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
          inFlight.delete(ReceiptHandle);
        }
      },
      release: (receipts) => letGo(sdk, queueUrl, receipts, inFlight),
    },
  };
}

async function letGo(
  client: SQSClient,
  queueUrl: string,
  receipts: Iterable<string>,
  inFlight: Set<string>,
): Promise<void> {
  for (const ReceiptHandle of [...receipts]) {
    const command = { QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 };
    await client.send(new ChangeMessageVisibilityCommand(command));
    inFlight.delete(ReceiptHandle);
  }
}

/** The queue as the stack has it, but for its times. */
export async function openSqsFixture(clients: SqsClients): Promise<DeadLettersFixture> {
  const { sdk, relay } = clients;
  const { queueUrl, deadUrl } = await createQueuePair(sdk);
  const inFlight = new Set<string>();
  return {
    ...openEnds(clients, queueUrl, inFlight),
    deadLetters: createSqsDeadLetters({ client: relay, queueUrl, deadLetterUrl: deadUrl }),
    rest: async () => undefined,
    deadLetterBodies: async () => (await receiveFrom(sdk, deadUrl, 10)).map(({ Body = '' }) => Body),
    async reopen() {
      // Stands in for the end of the visibility time-out, after which SQS lets go of what a crash left.
      await letGo(sdk, queueUrl, inFlight, inFlight);
      return openEnds(clients, queueUrl, inFlight);
    },
    close: async () => undefined,
  };
}
