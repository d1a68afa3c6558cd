import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Confirmation } from '../../lib/base/wire.ts';
import { bytesOf, type Line, openLine } from './line.ts';

let line: Line;

beforeEach(() => {
  line = openLine();
});

afterEach(() => line.close());

const ok = bytesOf('{"ok":true}');
const pong = bytesOf('["pong"]');
const refusal = refusalWith('');
const refused = { kind: 'answered', status: 422, body: '{"code":30}' };
const confirmation: Confirmation = {
  path: '/ping',
  headers: { 'User-Agent': 'test' },
  isExpected: ({ status, body }) => status === 200 && body === '["pong"]',
};

function refusalWith(fields: string): string {
  return bytesOf('{"code":30}', fields).replace('200 OK', '422 Unprocessable Content');
}

function inDoubt(reason: string) {
  return { kind: 'ambiguous', reason: `the response was lost after the request was written: ${reason}` };
}
const outOfStep = inDoubt('its connection carries responses that belong to other requests');

describe('a refusal of a request that needs confirmation', () => {
  test('counts once the same connection has answered the next request as it must', async () => {
    const server = await line.serveRaw([ok, refusal, pong, ok]);
    await line.post(server.url);

    const outcome = await line.post(server.url, { confirmation });
    await line.post(server.url);

    expect(outcome).toEqual(refused);
    expect(server.requests[2]).toMatch(
      /^GET \/ping HTTP\/1\.1\r\nHost: [^\r]+\r\nConnection: keep-alive\r\nUser-Agent: test\r\n\r\n$/,
    );
    expect(server.sockets).toHaveLength(1);
  });

  test('is in doubt when it was a surplus response, and the true one comes after it', async () => {
    const server = await line.serveRaw([ok, `${refusal}`, `${ok}`, ok]);
    await line.post(server.url);

    expect(await line.post(server.url, { confirmation })).toEqual(outOfStep);
    expect(await line.post(server.url)).toMatchObject({ kind: 'answered' });
    expect(server.sockets).toHaveLength(2);
  });

  test('is in doubt when the true response comes with it', async () => {
    const server = await line.serveRaw([ok, `${refusal}${ok}`]);
    await line.post(server.url);

    expect(await line.post(server.url, { confirmation })).toEqual(outOfStep);
    expect(server.requests).toHaveLength(2);
  });

  test('is in doubt when more than the expected response comes', async () => {
    const server = await line.serveRaw([ok, refusal, `${pong}${ok}`]);
    await line.post(server.url);

    expect(await line.post(server.url, { confirmation })).toEqual(outOfStep);
  });

  test.each<[string, (socket: Socket) => void, string]>([
    ['breaks off', (socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['ends', (socket) => socket.end(), 'the server closed the connection without a response'],
  ])('is in doubt when the connection %s before the next response', async (_, spoil, reason) => {
    const server = await line.serveRaw([ok, refusal, spoil]);
    await line.post(server.url);

    expect(await line.post(server.url, { confirmation })).toEqual(inDoubt(reason));
  });

  test('is in doubt when the next response does not come in time', async () => {
    const server = await line.serveRaw([ok, refusal, () => undefined]);
    await line.post(server.url);

    const outcome = await line.post(server.url, { confirmation, timeoutMs: 100 });

    expect(outcome).toEqual(inDoubt('no response within 100 ms'));
  });

  test('is in doubt on a used connection that carries nothing after it', async () => {
    const server = await line.serveRaw([ok, refusalWith('Connection: close\r\n')]);
    await line.post(server.url);

    expect(await line.post(server.url, { confirmation })).toEqual(outOfStep);
  });

  test('counts on a new connection that carries nothing after it', async () => {
    const server = await line.serveRaw([refusalWith('Connection: close\r\n')]);

    expect(await line.post(server.url, { confirmation })).toEqual(refused);
  });
});

test.each([
  ['an acceptance', ok, 200],
  ['a failure', ok.replace('200 OK', '503 Unavailable'), 503],
  ['HTTP 429', ok.replace('200 OK', '429 Too Many'), 429],
])('%s is not confirmed: it speaks for itself, or proves nothing', async (_, response, status) => {
  const server = await line.serveRaw([ok, response]);
  await line.post(server.url);

  expect(await line.post(server.url, { confirmation })).toMatchObject({ kind: 'answered', status });
  expect(server.requests).toHaveLength(2);
});
