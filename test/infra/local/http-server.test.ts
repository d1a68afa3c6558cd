import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type HttpServer, startHttpServer } from '../../../infra/local/http-server.ts';

/** Far above the limit given to the server, far below the 30 seconds after which Node checks by default. */
const patienceMs = 10_000;

describe('a sender that stalls', () => {
  let server: HttpServer;
  afterEach(() => server.close());

  async function start(receiveWithinMs: number): Promise<void> {
    const receive = async () => ({ statusCode: 202, headers: {}, body: '{}' });
    server = await startHttpServer(0, receive, { receiveWithinMs });
  }

  /** Writes the text and then stalls; resolves with the response once the server has closed the connection. */
  async function stallAfter(...parts: readonly string[]): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    for (const part of parts) socket.write(part);
    return await text(socket);
  }

  test.each([
    ['before its first byte', []],
    ['in its headers', ['POST /signals/main/token HTTP/1.1\r\nhost: x\r\n']],
    ['in its body', ['POST /signals/main/token HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n', '{"id"']],
  ])(
    '%s gets a 408, and its connection is closed',
    async (_, parts) => {
      await start(100);

      const response = await stallAfter(...parts);

      expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(response).toMatch(/\r\nconnection: close\r\n/i);
      expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toMatchObject({
        error: { code: 'request_timeout', message: 'the request was not complete after 0.1 s' },
      });
    },
    patienceMs,
  );

  test(
    'by sending a byte now and then has no longer',
    async () => {
      await start(200);
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write('POST /signals/main/token HTTP/1.1\r\nhost: x\r\ncontent-length: 999999\r\n\r\n');
      const trickle = setInterval(() => socket.write('x'), 10);
      socket.on('error', () => undefined);

      // It may hear of the end by a reset, for it was still sending.
      await new Promise((resolve) => socket.once('close', resolve));

      clearInterval(trickle);
    },
    patienceMs,
  );

  test('does not delay other senders', async () => {
    await start(60_000);
    const stalled = connect(Number(new URL(server.url).port), '127.0.0.1');
    stalled.write('POST /signals/main/token HTTP/1.1\r\n');

    const response = await fetch(`${server.url}/signals/main/token`, { method: 'POST', body: '{}' });

    expect(response.status).toBe(202);
    stalled.destroy();
  });
});

test('a request that is not HTTP gets a 400', async () => {
  const server = await startHttpServer(0, async () => ({ statusCode: 202, headers: {}, body: '{}' }));
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write('good day\r\n\r\n');

  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);

  await server.close();
});

test.each([
  ['one byte too many', '}'],
  ['what is not HTTP', 'good day\r\n\r\n'],
])('an alert with %s behind it gets its own response', async (_, surplus) => {
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  const server = await startHttpServer(0, async () => {
    await stored;
    return { statusCode: 202, headers: {}, body: '{}' };
  });
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write(`POST /signals/main/token HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}${surplus}`);
  setTimeout(store, 20);

  expect(await text(socket)).toMatch(/^HTTP\/1\.1 202 Accepted\r\n(?:.+\r\n)*connection: close\r\n/i);

  await server.close();
});
