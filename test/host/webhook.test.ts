import { expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { createWebhook } from '../../lib/host/webhook.ts';
import { proxyEvent } from '../support/functions.ts';

const silence = () => undefined;
const log = { info: silence, warn: silence, error: silence };

test('a handler that takes too long gets a 503 response, so that the sender sends again', async () => {
  const never = new Promise<never>(() => undefined);
  const { statusCode, body } = await createWebhook(log, () => never, 5)(proxyEvent('{}'));
  expect(statusCode).toBe(503);
  expect(JSON.parse(body)).toMatchObject({
    error: {
      code: 'not_stored',
      message:
        'the alert was not completely stored and queued (handling took longer than 5 ms): send the same bytes again',
    },
  });
});

test('a handler that fails after its time is up causes no error', async () => {
  let fail: (error: Error) => void = silence;
  const late = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const { statusCode } = await createWebhook(log, () => late, 5)(proxyEvent('{}'));
  fail(new Error('late'));
  await new Promise(setImmediate);
  expect(statusCode).toBe(503);
});

test('a refusal with Retry-After keeps its own message', async () => {
  const handle = async () => {
    throw new RelayError('rate_limited', 'too many');
  };
  const { statusCode, headers, body } = await createWebhook(log, handle)(proxyEvent('{}'));
  expect([statusCode, headers?.['retry-after']]).toEqual([503, '5']);
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'rate_limited', message: 'too many' } });
});

test('a handler that finishes in time determines the response', async () => {
  const handle = async () => ({ httpStatus: 202, body: { signalId: 'a' } });
  expect(await createWebhook(log, handle, 60_000)(proxyEvent('{}'))).toMatchObject({
    statusCode: 202,
    body: '{"signalId":"a"}',
  });
});
