import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RawStep, untilClosed } from '../support/raw-server.ts';
import { bytesOf, type Line, openLine } from './line.ts';

let line: Line;

beforeEach(() => {
  line = openLine();
});

afterEach(() => line.close());

const ok = bytesOf('{"ok":true}');
const answered = { kind: 'answered', status: 200, body: '{"ok":true}' };

function lost(reason: string) {
  return { kind: 'ambiguous', reason: `the response was lost after the request was written: ${reason}` };
}

/** By then, everything that had happened to the connections has been noticed. */
async function turnEventLoop(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}

describe('an idle connection', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['that the server closes', (socket) => socket.end()],
    ['that the server resets', (socket) => socket.resetAndDestroy()],
    ['with bytes that nobody asked for', (socket) => socket.write(bytesOf('{"ok":false}'))],
  ])('%s gets no further request', async (_, spoil) => {
    const server = await line.serveRaw([ok, ok]);
    const first = await line.post(server.url);
    const socket = server.sockets[0] as Socket;

    spoil(socket);
    await untilClosed(socket);
    await turnEventLoop();
    const second = await line.post(server.url);

    expect([first, second]).toEqual([answered, answered]);
    expect(server.sockets).toHaveLength(2);
  });

  test('does not take bytes after a response for the next response', async () => {
    const server = await line.serveRaw([`${ok}${bytesOf('{"ok":false}')}`, ok]);

    const outcomes = [await line.post(server.url), await line.post(server.url)];

    expect(outcomes).toEqual([answered, answered]);
    expect(server.sockets).toHaveLength(2);
  });

  test.each([
    ['the server closes it after the response', bytesOf('{"ok":true}', 'Connection: close\r\n')],
    ['the response is in HTTP/1.0', `HTTP/1.0${ok.slice(8)}`],
    ['the server keeps it for a second', bytesOf('{"ok":true}', 'Keep-Alive: timeout=1\r\n')],
  ])('is not kept when %s', async (_, response) => {
    const server = await line.serveRaw([response, ok]);

    const outcomes = [await line.post(server.url), await line.post(server.url)];

    expect(outcomes).toEqual([answered, answered]);
    expect(server.sockets).toHaveLength(2);
  });

  test('that was used last is used first, so that others grow old', async () => {
    const held: Socket[] = [];
    const hold: RawStep = (socket) => held.push(socket);
    const server = await line.serveRaw([hold, hold, ok, ok]);
    const posts = [line.post(server.url), line.post(server.url)];
    await server.untilSeen(2);
    held[0]?.write(ok);
    await Promise.race(posts);
    held[1]?.write(ok);
    await Promise.all(posts);
    const readBefore = held.map(({ bytesRead }) => bytesRead);

    await line.post(server.url);
    await line.post(server.url);

    const requestBytes = server.requests[0]?.length ?? 0;
    expect(held.map(({ bytesRead }, index) => bytesRead - (readBefore[index] ?? 0))).toEqual([
      0,
      2 * requestBytes,
    ]);
  });

  test('is not kept longer than a second less than the server keeps it', async () => {
    const kept = bytesOf('{"ok":true}', 'Keep-Alive: timeout=3\r\n');
    const server = await line.serveRaw([kept, kept, kept]);
    await line.post(server.url);

    line.clock.advance(2000);
    await line.post(server.url);
    const withinLimit = server.sockets.length;
    line.clock.advance(2001);
    await line.post(server.url);

    expect([withinLimit, server.sockets.length]).toEqual([1, 2]);
  });
});

describe('a response', () => {
  test.each([
    ['of known length', bytesOf('{"ok":true}', 'a: b\r\n')],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"ok\r\n7\r\n":true}\r\n0\r\na: b\r\n\r\n',
    ],
  ])('%s that ends early at any byte is lost', async (_, response) => {
    const ends = Array.from(
      response,
      (_byte, index): RawStep =>
        (socket) => {
          socket.end(response.slice(0, index));
        },
    );
    const server = await line.serveRaw([...ends, response]);

    const outcomes = [];
    for (let count = 0; count <= response.length; count += 1) outcomes.push(await line.post(server.url));

    expect(outcomes).toEqual([
      lost('the server closed the connection without a response'),
      ...Array(response.length - 1).fill(lost('the server closed the connection within the response')),
      answered,
    ]);
  });

  test.each([
    ['with no length', ''],
    ['that announces the end of the connection', 'Connection: close\r\n'],
  ])('%s is lost when the connection ends before its body', async (_, fields) => {
    const server = await line.serveRaw([(socket) => socket.end(`HTTP/1.1 404 Not Found\r\n${fields}\r\n`)]);

    expect(await line.post(server.url)).toEqual(lost('the server closed the connection within the response'));
  });

  test('may come in single bytes, after interim responses', async () => {
    const server = await line.serveRaw([
      async (socket) => {
        for (const byte of `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${ok}`) {
          socket.write(byte);
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
      ok,
    ]);

    expect([await line.post(server.url), await line.post(server.url)]).toEqual([answered, answered]);
    expect(server.sockets).toHaveLength(1);
  });

  test('that switches to another protocol is lost', async () => {
    const server = await line.serveRaw(['HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n']);

    expect(await line.post(server.url)).toEqual(lost('the server switches to another protocol'));
  });

  test('that breaks off with a reset is lost, even where it may end with the connection', async () => {
    const server = await line.serveRaw([
      (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n{', () => socket.resetAndDestroy()),
    ]);

    expect(await line.post(server.url)).toEqual(lost('ECONNRESET'));
  });

  test('never shows in the reason why it is lost', async () => {
    const server = await line.serveRaw([
      'HTTP/1.1 200 OK\r\nSet-Cookie : s3cret\r\n\r\n',
      's3cret\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ns3cret\r\n',
    ]);

    for (let count = 0; count < 3; count += 1) {
      const outcome = await line.post(server.url);
      expect(outcome.kind).toBe('ambiguous');
      expect(JSON.stringify(outcome)).not.toContain('s3cret');
    }
  });

  test('that comes before the request was written completely counts, and closes the connection', async () => {
    const untouched: Socket[] = [];
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      untouched.push(socket);
      socket.on('error', () => undefined).write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
    });
    const url = await line.listen(server, 'http');
    const body = 'x'.repeat(20 * 1024 * 1024);

    const outcomes = [await line.post(url, { body }), await line.post(url, { body })];
    for (const socket of untouched) socket.destroy();

    const tooLarge = { kind: 'answered', status: 413, body: '' };
    expect(outcomes).toEqual([tooLarge, tooLarge]);
    expect(untouched).toHaveLength(2);
  });
});

describe('a request', () => {
  test('that is not valid reaches no connection', async () => {
    const server = await line.serveRaw([]);

    const outcome = await line.post(server.url, { headers: { 'X-TXC-APIKEY': 's3cret\r\nHost: elsewhere' } });

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: 'the request is not valid: its header X-TXC-APIKEY holds characters that HTTP does not allow',
    });
    expect(server.sockets).toEqual([]);
  });

  test('is lost when the server closes the connection at once', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end());
    const url = await line.listen(server, 'http');

    expect(await line.post(url)).toEqual(lost('the server closed the connection without a response'));
  });

  test('ends by its own time, however long others may take', async () => {
    const server = await line.serveRaw(Array<RawStep>(4).fill(() => undefined));
    const patient = line.post(server.url, { timeoutMs: 30_000 });
    await server.untilSeen(1);

    // Each needs a connection of its own; on a slow machine, the time may be up before it is made.
    const impatient = await Promise.all(
      [40, 60, 50].map((timeoutMs) => line.post(server.url, { timeoutMs })),
    );

    expect(impatient).toMatchObject([
      { reason: expect.stringMatching(/ no (?:response|connection) within 40 ms$/) },
      { reason: expect.stringMatching(/ no (?:response|connection) within 60 ms$/) },
      { reason: expect.stringMatching(/ no (?:response|connection) within 50 ms$/) },
    ]);
    line.transport.close();
    expect(await patient).toEqual(lost('the relay closed the connection'));
  });

  test('is left alone by the time-out of an earlier one on its connection', async () => {
    const held: Socket[] = [];
    const server = await line.serveRaw([ok, (socket) => held.push(socket), () => undefined]);
    await line.post(server.url, { timeoutMs: 60 });
    const patient = line.post(server.url);

    // By the time that this one has ended, the first one's time-out lies behind.
    await line.post(server.url, { timeoutMs: 80 });
    held[0]?.write(ok);

    expect(await patient).toEqual(answered);
  });

  test('waits for one of 64 connections, in the order of arrival', async () => {
    const held: Socket[] = [];
    const hold: RawStep = (socket) => held.push(socket);
    const server = await line.serveRaw([...Array<RawStep>(64).fill(hold), ok, ok, ok]);
    const ended: string[] = [];
    const posts = Array.from({ length: 64 }, () => line.post(server.url));
    await server.untilSeen(64);
    for (const path of ['/first', '/second', '/third'])
      posts.push(line.post(server.url, { path }).finally(() => ended.push(path)));

    held[0]?.write(ok);
    await server.untilSeen(67);
    for (const socket of held.slice(1)) socket.write(ok);
    const outcomes = await Promise.all(posts);

    expect(ended).toEqual(['/first', '/second', '/third']);
    expect(outcomes).toEqual(Array(67).fill(answered));
    expect(server.sockets).toHaveLength(64);
  });

  test('that waits gets a new connection when another one ends', async () => {
    const server = await line.serveRaw([...Array<RawStep>(64).fill(() => undefined), ok]);
    const held = Array.from({ length: 64 }, () => line.post(server.url));
    await server.untilSeen(64);
    const waiting = line.post(server.url);

    server.sockets[0]?.resetAndDestroy();

    expect(await waiting).toEqual(answered);
    expect(server.sockets).toHaveLength(65);
    line.transport.close();
    expect((await Promise.all(held)).map(({ kind }) => kind)).toEqual(Array(64).fill('ambiguous'));
  });

  test('that gave up waiting is never written', async () => {
    const held: Socket[] = [];
    const server = await line.serveRaw([...Array<RawStep>(64).fill((socket) => held.push(socket)), ok]);
    const posts = Array.from({ length: 64 }, () => line.post(server.url));
    await server.untilSeen(64);

    const impatient = await line.post(server.url, { path: '/impatient', connectTimeoutMs: 20 });
    for (const socket of held) socket.write(ok);
    await Promise.all(posts);
    const patient = await line.post(server.url, { path: '/patient' });

    expect(impatient).toMatchObject({ kind: 'not_sent' });
    expect(patient).toEqual(answered);
    expect(server.requests.filter((request) => request.includes('patient'))).toHaveLength(1);
  });
});

describe('closing the transport', () => {
  test('closes idle connections', async () => {
    const server = await line.serveRaw([ok]);
    await line.post(server.url);

    line.transport.close();
    await untilClosed(server.sockets[0]);

    expect(server.sockets[0]?.closed).toBe(true);
  });

  test('ends a request within its response', async () => {
    const server = await line.serveRaw(['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{']);
    const outcome = line.post(server.url);
    await server.untilSeen(1);
    await turnEventLoop();

    line.transport.close();

    expect(await outcome).toEqual(lost('the relay closed the connection'));
  });

  test('ends a request while its connection is being made', async () => {
    const bytes: Buffer[] = [];
    const server = createServer((socket) => {
      socket.on('data', (chunk) => bytes.push(chunk)).on('error', () => undefined);
    });
    const url = await line.listen(server, 'https');
    const outcome = line.post(url);
    const [socket] = (await once(server, 'connection')) as [Socket];

    line.transport.close();
    line.transport.close();
    await untilClosed(socket);

    expect(await outcome).toEqual({
      kind: 'not_sent',
      reason: `no connection to ${url}: the relay closed the connection`,
    });
    expect(Buffer.concat(bytes).toString('latin1')).not.toContain('/api/v4/order');
  });
});
