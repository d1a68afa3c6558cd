import { expect, test } from '@jest/globals';
import { createSqsClient } from '../../lib/queue/sqs.ts';
import { createSqsPostpone } from '../../lib/queue/sqs-postpone.ts';
import { openAccess } from '../support/aws-access.ts';
import { startScriptedServer } from '../support/scripted-server.ts';

test('a message is postponed by whole seconds, rounded up; a failure does not name any resource', async () => {
  const gone = {
    status: 400,
    body: '{"__type":"com.amazonaws.sqs#ReceiptHandleIsInvalid","message":"receipt-1 of arn:aws:sqs:eu-central-1"}',
  };
  const server = await startScriptedServer([{ status: 200, body: '{}' }, gone]);
  const access = openAccess(server.url, { maximumAttempts: 1 });
  const client = createSqsClient(access);
  const queueUrl = `${server.url}/111122223333/signals.fifo`;
  const postpone = createSqsPostpone({ client, queueUrl });

  await postpone('receipt-1', 5_001);

  expect(JSON.parse(server.seen[0]?.body ?? '')).toEqual({
    QueueUrl: queueUrl,
    ReceiptHandle: 'receipt-1',
    VisibilityTimeout: 6,
  });
  await expect(postpone('receipt-1', 1_000)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'the message could not be postponed: ReceiptHandleIsInvalid',
  });
  access.transport.close();
  await server.close();
});
