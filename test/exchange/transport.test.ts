import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTransport, type Transport, type WireOutcome } from '../../lib/exchange/transport.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type ScriptedServer, type ScriptStep, startScriptedServer } from '../support/scripted-server.ts';
import { createSelfSignedCertificate } from '../support/self-signed-certificate.ts';

let clock: ManualClock;
let transport: Transport;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  clock = createManualClock(1_594_297_865_000);
  transport = createTransport(clock);
});

afterEach(async () => {
  transport.close();
  for (const close of closers.splice(0)) await close();
});

async function serve(...steps: readonly ScriptStep[]): Promise<ScriptedServer> {
  const server = await startScriptedServer(steps);
  closers.push(() => server.close());
  return server;
}

/** A bare TCP server, and the URL that reaches it. */
async function listen(server: Server, scheme = 'http'): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Patience {
  readonly connectTimeoutMs?: number;
  readonly timeoutMs?: number;
}

function post(baseUrl: string, patience: Patience = {}): Promise<WireOutcome> {
  return transport.send({
    baseUrl,
    method: 'POST',
    path: '/api/v4/order',
    headers: { 'Content-type': 'application/json' },
    body: '{"a":1}',
    connectTimeoutMs: 10_000,
    timeoutMs: 10_000,
    ...patience,
  });
}

const fine = { status: 200, body: '{"ok":true}' };
const lost = { kind: 'ambiguous', reason: expect.stringContaining('after the request was written') };

describe('an answer', () => {
  test('comes back with its status and its text', async () => {
    const server = await serve({ status: 422, body: '{"message":"é€😀"}' });

    const outcome = await post(server.url);

    expect(outcome).toEqual({ kind: 'answered', status: 422, body: '{"message":"é€😀"}' });
    expect(server.seen).toMatchObject([
      { method: 'POST', path: '/api/v4/order', body: '{"a":1}', headers: { 'content-length': '7' } },
    ]);
  });

  test('may arrive byte by byte, through the middle of a character', async () => {
    const server = await serve((response) => {
      const bytes = Buffer.from('"€"');
      response.writeHead(200);
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    });

    expect(await post(server.url)).toEqual({ kind: 'answered', status: 200, body: '"€"' });
  });

  test('that points elsewhere is not followed', async () => {
    const server = await serve({ status: 307, body: '', headers: { location: '/elsewhere' } }, fine);

    expect(await post(server.url)).toEqual({ kind: 'answered', status: 307, body: '' });
    expect(server.seen).toHaveLength(1);
  });

  test('may be ended by closing the connection', async () => {
    const server = await serve((response) => {
      response.socket?.end('HTTP/1.0 200 OK\r\n\r\n{"ok":true}');
    });

    expect(await post(server.url)).toEqual({ kind: 'answered', status: 200, body: '{"ok":true}' });
  });
});

describe('nothing was sent', () => {
  test('when nobody listens', async () => {
    const server = await serve();
    await server.close();
    closers.length = 0;

    expect(await post(server.url)).toEqual({
      kind: 'not_sent',
      reason: `no connection to ${server.url}: ECONNREFUSED`,
    });
  });

  test('when the name is unknown', async () => {
    // RFC 6761 keeps this ending free of names for ever.
    expect(await post('https://exchange.invalid')).toMatchObject({ kind: 'not_sent' });
  });

  test('when the server never completes the TLS handshake', async () => {
    const bytes: Buffer[] = [];
    const server = createServer((socket) => {
      socket.on('data', (chunk) => bytes.push(chunk)).on('error', () => undefined);
    });
    const url = await listen(server, 'https');

    const outcome = await post(url, { connectTimeoutMs: 60 });
    server.close();

    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: `no connection to ${url}: no connection within 60 ms`,
    });
    expect(Buffer.concat(bytes).toString('latin1')).not.toContain('/api/v4/order');
  });

  test('when the server ends the connection within the TLS handshake', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.destroy()));
    const url = await listen(server, 'https');

    const outcome = await post(url);
    server.close();

    expect(outcome).toMatchObject({ kind: 'not_sent' });
  });

  test('while all connections are taken', async () => {
    const server = await serve(...Array<ScriptStep>(64).fill(() => undefined));
    const held = Array.from({ length: 64 }, () => post(server.url));
    await server.untilSeen(64);

    const oneMore = await post(server.url, { connectTimeoutMs: 20 });
    transport.close();

    expect(oneMore).toMatchObject({ kind: 'not_sent' });
    expect(server.seen).toHaveLength(64);
    expect((await Promise.all(held)).map(({ kind }) => kind)).toEqual(Array(64).fill('ambiguous'));
  });

  test('once the transport is closed', async () => {
    const server = await serve(fine);
    transport.close();

    expect(await post(server.url)).toMatchObject({ kind: 'not_sent' });
    expect(server.seen).toEqual([]);
  });
});

describe('the outcome is unknown', () => {
  test('when the connection breaks after the request', async () => {
    const server = await serve((response) => response.socket?.resetAndDestroy());

    expect(await post(server.url)).toEqual({
      kind: 'ambiguous',
      reason: 'the answer was lost after the request was written: ECONNRESET',
    });
  });

  test('when a connection that served before breaks', async () => {
    const server = await serve(fine, (response) => response.socket?.destroy());
    await post(server.url);

    expect(await post(server.url)).toMatchObject(lost);
    expect(server.connectionCount()).toBe(1);
    expect(server.seen).toHaveLength(2);
  });

  test.each<[string, ScriptStep]>([
    [
      'within a body of known length',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"ok":');
        response.socket?.end();
      },
    ],
    [
      'within a chunked body',
      (response) => {
        response.writeHead(200).write('{"ok":');
        response.socket?.end();
      },
    ],
    ['within the head', (response) => response.socket?.end('HTTP/1.1 200 OK\r\nContent-')],
    ['with what is not HTTP', (response) => response.socket?.end('good morning\r\n\r\n')],
    [
      'with a head without end',
      (response) => response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
    ],
  ])('when the answer ends %s', async (_, step) => {
    const server = await serve(step);

    expect(await post(server.url)).toMatchObject(lost);
  });

  test('when no answer comes in time', async () => {
    const server = await serve(fine, () => undefined);
    await post(server.url);

    expect(await post(server.url, { timeoutMs: 80 })).toEqual({
      kind: 'ambiguous',
      reason: 'the answer was lost after the request was written: no answer within 80 ms',
    });
  });

  test('when the answer is larger than any the exchange gives', async () => {
    const server = await serve((response) => {
      response.on('error', () => undefined);
      response.end('x'.repeat(5 * 1024 * 1024));
    });

    expect(await post(server.url)).toEqual({
      kind: 'ambiguous',
      reason: 'the answer was lost after the request was written: the answer is larger than 4194304 bytes',
    });
  });

  test('when the transport is closed in between', async () => {
    const server = await serve(() => undefined);
    const outcome = post(server.url);
    await server.untilSeen(1);

    transport.close();

    expect(await outcome).toMatchObject(lost);
  });
});

describe('connections', () => {
  test('are used again', async () => {
    const server = await serve(fine, fine, fine);

    for (let count = 0; count < 3; count += 1) await post(server.url);

    expect(server.connectionCount()).toBe(1);
  });

  test('that were just given up are never written to', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = gates.map(
      ({ promise }): ScriptStep =>
        (response) => {
          promise.then(() => response.end('{}'));
        },
    );
    const server = await serve(...held, fine, fine);
    const calls = [post(server.url), post(server.url)];
    await server.untilSeen(2);
    gates[0]?.resolve();
    await Promise.race(calls);
    clock.advance(100);
    gates[1]?.resolve();
    await Promise.all(calls);

    clock.advance(-50);
    const outcome = await post(server.url);

    expect(outcome.kind).toBe('not_sent');
    expect(server.seen).toHaveLength(2);
  });

  test('are not used again after four idle seconds, nor when the clock was set back', async () => {
    const server = await serve(fine, fine, fine, fine);
    await post(server.url);
    clock.advance(4000);
    await post(server.url);
    const withinLimit = server.connectionCount();

    clock.advance(4001);
    await post(server.url);
    const beyondLimit = server.connectionCount();
    clock.advance(-1);
    await post(server.url);

    expect([withinLimit, beyondLimit, server.connectionCount()]).toEqual([1, 2, 3]);
  });
});

describe('over TLS', () => {
  const certificate = createSelfSignedCertificate();

  test('a server nobody vouches for sees no request', async () => {
    const server = await startScriptedServer([fine], createHttpsServer(certificate));
    closers.push(() => server.close());

    const outcome = await post(server.url.replace('http://127.0.0.1', 'https://localhost'));

    expect(outcome).toMatchObject({
      kind: 'not_sent',
      reason: expect.stringMatching(
        /^no connection to https:\/\/localhost:\d+: DEPTH_ZERO_SELF_SIGNED_CERT$/,
      ),
    });
    expect(server.seen).toEqual([]);
  });

  test('a trusted server answers, again and again over one connection', async () => {
    const server = await startScriptedServer([fine, fine], createHttpsServer(certificate));
    closers.push(() => server.close());
    const usual = getCACertificates('default');
    setDefaultCACertificates([certificate.cert]);
    const url = server.url.replace('http://127.0.0.1', 'https://localhost');

    const outcomes = [await post(url), await post(url)];
    setDefaultCACertificates(usual);

    const answered = { kind: 'answered', status: 200, body: '{"ok":true}' };
    expect(outcomes).toEqual([answered, answered]);
    expect(server.connectionCount()).toBe(1);
  });
});
