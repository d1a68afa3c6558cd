import { SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from '@jest/globals';
import { createSqsQueue } from '../../lib/queue/sqs-queue.ts';
import { startScriptedServer } from '../support/scripted-server.ts';

test('a signal goes into the group of its account and market, under an id of its own', async () => {
  const denied = {
    status: 403,
    body: '{"__type":"com.amazonaws.sqs#AccessDenied","message":"arn:aws:sqs:eu-central-1:111122223333"}',
  };
  const server = await startScriptedServer([{ status: 200, body: '{"MessageId":"m-1"}' }, denied]);
  const client = new SQSClient({
    endpoint: server.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    md5: false,
    maxAttempts: 1,
  });
  const queue = createSqsQueue({ client, queueUrl: `${server.url}/111122223333/signals.fifo` });
  const message = { account: 'main', signalId: 'tv-1', market: 'BTC_USDT' };

  await queue.enqueue(message);

  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
    QueueUrl: `${server.url}/111122223333/signals.fifo`,
    MessageBody: '{"account":"main","signalId":"tv-1","market":"BTC_USDT"}',
    MessageGroupId: 'main.BTC_USDT',
    MessageDeduplicationId: 'main.tv-1',
  });
  await expect(queue.enqueue(message)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'the signal could not be enqueued: AccessDenied',
  });
  client.destroy();
  await server.close();
});
