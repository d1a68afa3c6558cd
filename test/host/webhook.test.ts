import { describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { createPlainWebhook, type HandleWebhook } from '../../lib/host/plain-webhook.ts';
import { createWebhook } from '../../lib/host/webhook.ts';
import { proxyEvent } from '../support/functions.ts';
import { token } from '../support/relay-services.ts';

const silence = () => undefined;
const log = { info: silence, warn: silence, error: silence };

type Respond = (handle: HandleWebhook, method: string, body: string) => Promise<unknown>;

const onLambda: Respond = (handle, httpMethod, body) =>
  createWebhook(log, handle)({ ...proxyEvent(body), httpMethod });
const locally: Respond = (handle, method, body) =>
  createPlainWebhook(log, handle)({ method, account: 'main', token, body: Buffer.from(body) });

const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

describe.each([
  ['on Lambda', onLambda],
  ['of a local run', locally],
])('the webhook %s', (_, respond) => {
  test('passes on the bytes and the parts of the path', async () => {
    const handle: HandleWebhook = async ({ body, ...request }) => ({
      httpStatus: 202,
      body: { ...request, text: body.toString() },
    });
    expect(await respond(handle, 'POST', 'buy ✓')).toEqual({
      statusCode: 202,
      headers,
      body: JSON.stringify({ method: 'POST', account: 'main', token, text: 'buy ✓' }),
    });
  });

  test('takes no other method', async () => {
    const handle: HandleWebhook = async () => ({ httpStatus: 202, body: null });
    expect(await respond(handle, 'PUT', '{}')).toEqual({
      statusCode: 405,
      headers: { ...headers, allow: 'POST' },
      body: '{"error":{"code":"method_not_allowed","message":"PUT is not supported here; send the alert with POST","issues":[{"path":"","message":"PUT is not supported here; send the alert with POST","hint":"Send the alert with POST."}]}}',
    });
  });

  test('responds to a refusal with its issues', async () => {
    const issues = [{ path: 'id', message: 'is empty', hint: 'leave it out' }];
    const handle: HandleWebhook = async () => {
      throw new RelayError('invalid_signal', 'the alert was refused', { issues });
    };
    expect(await respond(handle, 'POST', '{}')).toEqual({
      statusCode: 400,
      headers,
      body: '{"error":{"code":"invalid_signal","message":"the alert was refused","issues":[{"path":"id","message":"is empty","hint":"leave it out"}]}}',
    });
  });

  test('keeps the message of a refusal with Retry-After', async () => {
    const handle: HandleWebhook = async () => {
      throw new RelayError('rate_limited', 'too many');
    };
    expect(await respond(handle, 'POST', '{}')).toMatchObject({
      statusCode: 503,
      headers: { ...headers, 'retry-after': '5' },
      body: expect.stringMatching(/^{"error":{"code":"rate_limited","message":"too many",/),
    });
  });

  test.each([
    ['an unexpected error', new TypeError('x is not a function')],
    ['an error that is no Error', 'x'],
    ['a store that fails', new RelayError('store_unavailable', 'the disk is full')],
  ])('asks for the same bytes again after %s', async (_name, error) => {
    const handle: HandleWebhook = async () => {
      throw error;
    };
    expect(await respond(handle, 'POST', '{}')).toMatchObject({
      statusCode: 503,
      headers,
      body: expect.stringMatching(/^{"error":{"code":"not_stored",.*send the same bytes again/),
    });
  });
});

describe('the webhook on Lambda', () => {
  test('responds 503 for a handler that takes too long, so that the sender sends again', async () => {
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

  test('is not disturbed by a handler that fails after its time is up', async () => {
    let fail: (error: Error) => void = silence;
    const late = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const { statusCode } = await createWebhook(log, () => late, 5)(proxyEvent('{}'));
    fail(new Error('late'));
    await new Promise(setImmediate);
    expect(statusCode).toBe(503);
  });

  test('responds with what a handler that finishes in time returns', async () => {
    const handle = async () => ({ httpStatus: 202, body: { signalId: 'a' } });
    expect(await createWebhook(log, handle, 60_000)(proxyEvent('{}'))).toMatchObject({
      statusCode: 202,
      body: '{"signalId":"a"}',
    });
  });
});
