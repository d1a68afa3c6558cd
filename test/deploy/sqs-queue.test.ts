import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSqsClient } from '../../lib/queue/sqs.ts';
import { createSqsDeadLetters } from '../../lib/queue/sqs-dead-letters.ts';
import { createSqsQueue } from '../../lib/queue/sqs-queue.ts';
import { describeDeadLetters } from '../queue/dead-letters-contract.ts';
import { describeQueue, idsOf, message } from '../queue/queue-contract.ts';
import { type MiniStack, startMiniStack } from './ministack.ts';
import { createQueuePair, openSqsFixture, type SqsClients } from './sqs-fixture.ts';

let aws: MiniStack;
let clients: SqsClients;

beforeAll(async () => {
  aws = await startMiniStack();
  clients = { sdk: new SQSClient(aws.clientOptions), relay: createSqsClient(aws.access) };
}, 180_000);

afterAll(async () => {
  clients.sdk.destroy();
  await aws.close();
});

describeQueue('a queue on SQS FIFO', () => openSqsFixture(clients));
describeDeadLetters('a queue on SQS FIFO', () => openSqsFixture(clients));

test('a message that was handled is not doubled for five minutes, should a resend enqueue it again', async () => {
  const { queue, source } = await openSqsFixture(clients);
  await queue.enqueue(message('a'));
  await source.remove((await source.receive(1)).map(({ receipt }) => receipt));
  await queue.enqueue(message('a'));
  await queue.enqueue(message('b'));
  expect(idsOf(await source.receive(10))).toEqual(['b']);
});

test('a queue that is not there says that nothing was enqueued, and names nothing', async () => {
  const { queueUrl } = await createQueuePair(clients.sdk);
  const queue = createSqsQueue({ client: clients.relay, queueUrl: `${queueUrl}-gone` });
  await expect(queue.enqueue(message('a'))).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^the signal could not be enqueued: [A-Za-z]+$/),
  });
});

test('dead letters that cannot be reached say how far the redrive came', async () => {
  const { queueUrl, deadUrl } = await createQueuePair(clients.sdk);
  const deadLetters = createSqsDeadLetters({
    client: clients.relay,
    queueUrl,
    deadLetterUrl: `${deadUrl}-gone`,
  });
  await expect(deadLetters.redrive()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(
      /^0 dead letters were put back, and the next one could not be: [A-Za-z]+$/,
    ),
  });
});
