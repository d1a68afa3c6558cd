import { hash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createStartWatch } from '../../lib/host/start-watch.ts';
import { createSqsClient } from '../../lib/queue/sqs.ts';
import { createSqsQueue } from '../../lib/queue/sqs-queue.ts';
import { openAccess } from '../support/aws-access.ts';
import { startScriptedServer } from '../support/scripted-server.ts';

test('a signal goes into the group of its account and market, under an id of its own', async () => {
  const denied = {
    status: 403,
    body: '{"__type":"com.amazonaws.sqs#AccessDenied","message":"arn:aws:sqs:eu-central-1:111122223333"}',
  };
  const text = '{"account":"main","signalId":"tv-1","market":"BTC_USDT"}';
  const stored = { status: 200, body: JSON.stringify({ MD5OfMessageBody: hash('md5', text) }) };
  const garbled = { status: 200, body: JSON.stringify({ MD5OfMessageBody: hash('md5', 'another text') }) };
  const server = await startScriptedServer([stored, stored, denied, garbled]);
  const access = openAccess(server.url, { maximumAttempts: 1 });
  const client = createSqsClient(access);
  const queue = createSqsQueue({ client, queueUrl: `${server.url}/111122223333/signals.fifo` });
  const message = { account: 'main', signalId: 'tv-1', market: 'BTC_USDT' };

  await queue.enqueue(message);

  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
    QueueUrl: `${server.url}/111122223333/signals.fifo`,
    MessageBody: text,
    MessageGroupId: 'main.BTC_USDT',
    MessageDeduplicationId: 'main.tv-1',
  });
  // Of a signal that waited, the first message has been handled: the queue would drop an equal one.
  await queue.enqueue(message, 'again');
  expect(JSON.parse(server.seen[1]?.body ?? '')).toMatchObject({ MessageDeduplicationId: 'main.tv-1.again' });
  await expect(queue.enqueue(message)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'the signal could not be enqueued: AccessDenied',
  });
  await expect(queue.enqueue(message)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'the signal could not be enqueued: InvalidChecksum',
  });
  access.transport.close();
  await server.close();
});

test('a message says when its signal met a cold start, and only then', async () => {
  const text = '{"account":"main","signalId":"tv-1","market":"BTC_USDT"}';
  const stored = { status: 200, body: JSON.stringify({ MD5OfMessageBody: hash('md5', text) }) };
  const server = await startScriptedServer([stored, stored]);
  const access = openAccess(server.url, { maximumAttempts: 1 });
  const start = createStartWatch();
  const queue = createSqsQueue({
    client: createSqsClient(access),
    queueUrl: `${server.url}/1/a.fifo`,
    start,
  });

  for (let call = 1; call <= 2; call += 1) {
    start.begin();
    await queue.enqueue({ account: 'main', signalId: 'tv-1', market: 'BTC_USDT' });
  }

  expect(server.seen.map(({ body }) => JSON.parse(body).MessageAttributes)).toEqual([
    { metColdStart: { DataType: 'String', StringValue: 'true' } },
    undefined,
  ]);
  access.transport.close();
  await server.close();
});
