import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { untilClosed } from '../support/raw-server.ts';
import type { ScriptStep } from '../support/scripted-server.ts';
import { bytesOf, fine, type Line, openLine } from './line.ts';

let line: Line;

beforeEach(() => {
  line = openLine();
});

afterEach(() => line.close());

const ok = bytesOf('{}');
const lost = { kind: 'ambiguous', reason: expect.stringContaining('after the request was written') };

describe('nothing was sent', () => {
  test('when no server listens', async () => {
    const server = createServer();
    const url = await line.listen(server, 'http');
    server.close();
    await once(server, 'close');

    expect(await line.post(url)).toEqual({
      kind: 'not_sent',
      reason: `no connection to ${url}: ECONNREFUSED`,
    });
  });

  test('when the name is unknown', async () => {
    // RFC 6761 reserves this top-level domain: its names never resolve.
    expect(await line.post('https://exchange.invalid')).toMatchObject({ kind: 'not_sent' });
  });

  test('when the server never completes the TLS handshake', async () => {
    const bytes: Buffer[] = [];
    const server = createServer((socket) => {
      socket.on('data', (chunk) => bytes.push(chunk)).on('error', () => undefined);
    });
    const url = await line.listen(server, 'https');

    const outcome = await line.post(url, { connectTimeoutMs: 60 });

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: `no connection to ${url}: no connection within 60 ms`,
    });
    expect(Buffer.concat(bytes).toString('latin1')).not.toContain('/api/v4/order');
  });

  test('when the server ends the connection within the TLS handshake', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.destroy()));
    const url = await line.listen(server, 'https');

    const outcome = await line.post(url);

    expect(outcome).toMatchObject({ kind: 'not_sent' });
  });

  test('when the connection is made after the time was up, before the timer could say so', async () => {
    const server = await line.serveRaw([ok]);
    const startedAtMs = performance.now();
    // The machine stands still between two events that arrived together: the server's and the client's.
    server.listener.once('connection', () => {
      while (performance.now() < startedAtMs + 40);
    });

    const outcome = await line.post(server.url, { connectTimeoutMs: 20 });

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: `no connection to ${server.url}: no connection within 20 ms`,
    });
    line.transport.close();
    await untilClosed(server.sockets[0]);
    expect(server.requests).toEqual([]);
  });

  test('when the machine was suspended while the connection was made, and its steady clock stood still', async () => {
    const server = await line.serveRaw([ok]);

    const sending = line.post(server.url, { connectTimeoutMs: 3000 });
    line.clock.advance(3001);

    expect(await sending).toMatchObject({ kind: 'not_sent' });
    line.transport.close();
    await untilClosed(server.sockets[0]);
    expect(server.requests).toEqual([]);
  });

  test('while all connections are in use', async () => {
    const server = await line.serve(Array<ScriptStep>(64).fill(() => undefined));
    const held = Array.from({ length: 64 }, () => line.post(server.url));
    await server.untilSeen(64);

    const oneMore = await line.post(server.url, { connectTimeoutMs: 20 });
    line.transport.close();

    expect(oneMore).toMatchObject({ kind: 'not_sent' });
    expect(server.seen).toHaveLength(64);
    expect((await Promise.all(held)).map(({ kind }) => kind)).toEqual(Array(64).fill('ambiguous'));
  });

  test('when the transport is closed before a connection is free', async () => {
    const server = await line.serve(Array<ScriptStep>(65).fill(() => undefined));
    const calls = Array.from({ length: 65 }, () => line.post(server.url));
    await server.untilSeen(64);

    line.transport.close();
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);

    expect(kinds).toEqual([...Array(64).fill('ambiguous'), 'not_sent']);
    expect([server.seen.length, server.connectionCount()]).toEqual([64, 64]);
  });

  test('once the transport is closed', async () => {
    const server = await line.serve([fine]);
    line.transport.close();

    expect(await line.post(server.url)).toMatchObject({ kind: 'not_sent' });
    expect(server.seen).toEqual([]);
  });
});

describe('the outcome is unknown', () => {
  test('when the connection breaks after the request', async () => {
    const server = await line.serve([(response) => response.socket?.resetAndDestroy()]);

    expect(await line.post(server.url)).toEqual({
      kind: 'ambiguous',
      reason: 'the response was lost after the request was written: ECONNRESET',
    });
  });

  test('when a reused connection breaks', async () => {
    const server = await line.serve([fine, (response) => response.socket?.destroy()]);
    await line.post(server.url);

    expect(await line.post(server.url)).toMatchObject(lost);
    expect(server.connectionCount()).toBe(1);
    expect(server.seen).toHaveLength(2);
  });

  test.each<[string, ScriptStep]>([
    ['within the headers', (response) => response.socket?.end('HTTP/1.1 200 OK\r\nContent-')],
    ['with what is not HTTP', (response) => response.socket?.end('good morning\r\n\r\n')],
    [
      'with endless headers',
      (response) => response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
    ],
  ])('when the response ends %s', async (_, step) => {
    const server = await line.serve([step]);

    expect(await line.post(server.url)).toMatchObject(lost);
  });

  test.each<[string, Record<string, string>]>([
    ['of known length', { 'content-length': '100' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])(
    'as soon as the connection ends within a body %s, without waiting for the timeout',
    async (_, headers) => {
      const server = await line.serve([
        (response) => {
          response.writeHead(200, headers).write('{"ok":');
          response.socket?.end();
        },
      ]);

      // The reason distinguishes the two cases, however slow the machine is.
      expect(await line.post(server.url, { timeoutMs: 30_000 })).toEqual({
        kind: 'ambiguous',
        reason:
          'the response was lost after the request was written: the server closed the connection within the response',
      });
    },
  );

  test('when no response comes in time', async () => {
    const server = await line.serve([fine, () => undefined]);
    await line.post(server.url);

    expect(await line.post(server.url, { timeoutMs: 80 })).toEqual({
      kind: 'ambiguous',
      reason: 'the response was lost after the request was written: no response within 80 ms',
    });
  });

  test('when the response exceeds the size limit', async () => {
    const server = await line.serve([
      (response) => {
        response.on('error', () => undefined);
        response.end('x'.repeat(5 * 1024 * 1024));
      },
    ]);

    expect(await line.post(server.url)).toEqual({
      kind: 'ambiguous',
      reason:
        'the response was lost after the request was written: the response is larger than 4194304 bytes',
    });
  });

  test('when the transport is closed before the response', async () => {
    const server = await line.serve([() => undefined]);
    const outcome = line.post(server.url);
    await server.untilSeen(1);

    line.transport.close();

    expect(await outcome).toMatchObject(lost);
  });
});
