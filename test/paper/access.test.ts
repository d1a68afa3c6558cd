import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, get, mainKey, moveTo, receive, signBody } from './paper-client.ts';

const nowMs = 1_790_000_000_000;
const balancePath = '/api/v4/main-account/balance';
const clock = createManualClock(nowMs);
let paper: PaperExchange;

beforeEach(async () => {
  moveTo(clock, nowMs);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
});

afterEach(() => paper.close());

async function send(body: string, headers: Record<string, string>, path = balancePath) {
  return receive(await fetch(`${paper.url}${path}`, { method: 'POST', body, headers }));
}

function withNonce(nonce: unknown, rest: Record<string, unknown> = {}) {
  const body = JSON.stringify({ request: balancePath, nonce, ...rest });
  return send(body, signBody(body, mainKey));
}

const unauthorized = { status: 401, body: { code: 10, message: 'Unauthorized request.' } };
const invalidPayload = { status: 400, body: { code: 9, message: 'Invalid payload.' } };
const nonceRefused = { status: 429, body: { code: 0, message: 'Too many requests.', errors: {} } };
const body = JSON.stringify({ request: balancePath, nonce: '1' });

describe('a signature', () => {
  test('made by another program over the same bytes is accepted', async () => {
    const signed = {
      'content-type': 'application/json',
      'x-txc-apikey': 'paper-key',
      'x-txc-payload':
        'eyJyZXF1ZXN0IjoiL2FwaS92NC9tYWluLWFjY291bnQvYmFsYW5jZSIsIm5vbmNlIjoiMTU5NDI5Nzg2NTAwMCJ9',
      // openssl dgst -sha512 -hmac paper-secret
      'x-txc-signature':
        '16d0f8cf33ea3910072ab00f20eadbe214569d3faf937f72a133c9cf2589bfa725b77c92e2ade3354d8866690161721ea490d1312d7182ba806901bcfba0937b',
    };

    const taken = await send('{"request":"/api/v4/main-account/balance","nonce":"1594297865000"}', signed);

    expect(taken.status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['by an unknown key', signBody(body, { apiKey: 'nobody', apiSecret: 'paper-secret' })],
    ['with the wrong secret', signBody(body, { apiKey: 'paper-key', apiSecret: 'paper-secret-2' })],
    ['that fits no body', { ...signBody(body, mainKey), 'x-txc-signature': 'a'.repeat(128) }],
    ['that is too short', { ...signBody(body, mainKey), 'x-txc-signature': 'ab' }],
    ['that is missing', { 'content-type': 'application/json' }],
  ])('%s is refused', async (_, headers) => {
    expect(await send(body, headers)).toEqual(unauthorized);
  });

  test('over other bytes than the body is refused', async () => {
    expect(await send(body, signBody(`${body} `, mainKey))).toEqual(invalidPayload);
  });

  test.each<[string, string]>([
    ['that is not JSON', 'hello'],
    ['that is not an object', '[1]'],
    ['with spaces', `{"request": "${balancePath}", "nonce": "1"}`],
    ['for another path', '{"request":"/api/v4/main-account/fee","nonce":"1"}'],
    ['for no path', '{"nonce":"1"}'],
  ])('over a body %s is refused', async (_, text) => {
    expect(await send(text, signBody(text, mainKey))).toEqual(invalidPayload);
  });

  test.each([
    ['blanks', `{"request": "${balancePath}", "nonce": "1"}`],
    ['lines', `{\n  "request": "${balancePath}",\n  "nonce": "1"\n}\n`],
  ])(
    'over a body with %s is accepted in the written API, which asks for no compact form',
    async (_, text) => {
      await paper.close();
      paper = await startPaperExchange({ port: 0, dialect: 'documented', clock, walk: false });

      expect((await send(text, signBody(text, mainKey))).status).toBe(200);
      expect(await send(text, signBody(text.trim().replace(' ', ''), mainKey))).toMatchObject({
        status: 400,
      });
    },
  );

  test('of a body with spaces inside a JSON string is accepted', async () => {
    const text = `{"request":"${balancePath}","nonce":"1","note":"a \\"b\\" c"}`;

    expect((await send(text, signBody(text, mainKey))).status).toBe(200);
  });

  test('of a body that is not sent as JSON is refused', async () => {
    const headers = { ...signBody(body, mainKey), 'content-type': 'text/plain' };

    expect(await send(body, headers)).toEqual(invalidPayload);
  });

  test('is not checked when the body is larger than 64 KiB', async () => {
    expect((await send('x'.repeat(65_537), {})).status).toBe(413);
    expect((await send('x'.repeat(65_536), {})).status).toBe(401);
  });
});

describe('a key', () => {
  test('that is disabled is refused with that reason', async () => {
    expect(await send(body, signBody(body, { apiKey: 'paper-key-3', apiSecret: 'paper-secret-3' }))).toEqual({
      status: 403,
      body: { code: 2, message: 'This action is unauthorized. Enable your key in API settings' },
    });
  });

  test('that may only read is refused by the order endpoints only', async () => {
    const readOnly = { apiKey: 'paper-key-4', apiSecret: 'paper-secret-4' };
    const post = createPost(paper.url);

    expect((await post(balancePath, {}, readOnly)).status).toBe(200);
    for (const path of ['/api/v4/order/collateral/stop-limit', '/api/v4/order/cancel'])
      expect(await post(path, {}, readOnly)).toEqual({
        status: 403,
        body: { code: 4, message: 'This API Key is not authorized to perform this action.' },
      });
  });
});

describe('a nonce without a window', () => {
  test('must be greater than the one before, compared as numbers and not as texts', async () => {
    expect((await withNonce('9')).status).toBe(200);
    expect((await withNonce(10)).status).toBe(200);
    expect(await withNonce('10')).toEqual(nonceRefused);
    expect(await withNonce('9')).toEqual(nonceRefused);
    expect((await withNonce('11', { nonceWindow: false })).status).toBe(200);
  });

  test('is tracked for each key separately', async () => {
    const post = createPost(paper.url);
    await withNonce('1000000');

    expect((await post(balancePath, {}, { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' })).status).toBe(
      200,
    );
  });

  test('is not used up by a request whose signature is wrong', async () => {
    await send(body, { ...signBody(body, mainKey), 'x-txc-signature': 'a'.repeat(128) });

    expect((await send(body, signBody(body, mainKey))).status).toBe(200);
  });

  test.each(['abc', -1, 1.5, true, '1e3'])('is refused when it is %p', async (nonce) => {
    expect(await withNonce(nonce)).toEqual(nonceRefused);
  });

  test.each([undefined, null, ''])('is refused as missing, not as used, when it is %p', async (nonce) => {
    expect(await withNonce(nonce)).toEqual({
      status: 422,
      body: { code: 30, message: 'Validation failed', errors: { nonce: ['Nonce field is required.'] } },
    });
  });
});

describe('a nonce with a window', () => {
  const windowed = (nonce: unknown) => withNonce(nonce, { nonceWindow: true });

  test.each([nowMs - 5000, nowMs + 5000, String(nowMs)])(
    'is accepted up to 5 s from the clock: %p',
    async (nonce) => {
      expect((await windowed(nonce)).status).toBe(200);
    },
  );

  test.each([nowMs - 5001, nowMs + 5001])('is refused further from the clock: %p', async (nonce) => {
    expect(await windowed(nonce)).toEqual(nonceRefused);
  });

  test('is accepted in any order, but only once while it lies within the window', async () => {
    expect((await windowed(nowMs + 2)).status).toBe(200);
    expect((await windowed(nowMs + 1)).status).toBe(200);
    moveTo(clock, nowMs + 5002);
    expect(await windowed(nowMs + 2)).toEqual(nonceRefused);
    expect((await windowed(nowMs + 3)).status).toBe(200);
  });
});

describe('the rate limit', () => {
  test('is counted per endpoint over any 10 seconds, and its response is not JSON', async () => {
    const url = `${paper.url}${balancePath}`;
    const unsigned = async (count: number) => {
      const answers = await Promise.all(
        Array.from({ length: count }, async () => (await fetch(url, { method: 'POST', body: '{}' })).status),
      );
      return new Set(answers);
    };

    expect(await unsigned(500)).toEqual(new Set([401]));
    moveTo(clock, nowMs + 5000);
    expect(await unsigned(500)).toEqual(new Set([401]));

    moveTo(clock, nowMs + 9999);
    expect(await withNonce('1')).toEqual({ status: 429, body: 'Too Many Requests' });
    expect((await get(paper.url, '/api/v4/public/ping')).status).toBe(200);

    moveTo(clock, nowMs + 10_000);
    expect(await unsigned(500)).toEqual(new Set([401]));
    expect(await withNonce('1')).toEqual({ status: 429, body: 'Too Many Requests' });
  });
});
