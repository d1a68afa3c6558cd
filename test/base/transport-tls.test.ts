import { createServer, getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RawServer, type RawStep, startRawServer } from '../support/raw-server.ts';
import { createSelfSignedCertificate } from '../support/self-signed-certificate.ts';
import { bytesOf, type Line, openLine } from './line.ts';

let line: Line;
let server: RawServer;
/** Whether each connection resumed the session of an earlier one. */
let resumptions: boolean[];

beforeEach(() => {
  line = openLine();
  resumptions = [];
});

afterEach(async () => {
  await line.close();
  await server.close();
});

const certificate = createSelfSignedCertificate();
const ok = bytesOf('{"ok":true}');
const answered = { kind: 'answered', status: 200, body: '{"ok":true}' };

/** @returns the address by the name in the certificate */
async function listen(steps: readonly RawStep[]): Promise<string> {
  const secure = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] });
  secure.on('tlsClientError', () => undefined);
  secure.on('secureConnection', (socket) => resumptions.push(socket.isSessionReused()));
  server = await startRawServer(steps, secure, 'secureConnection');
  return `https://localhost:${server.port}`;
}

function secureSocket(index: number): TLSSocket {
  const socket = server.sockets[index];
  if (socket instanceof TLSSocket) return socket;
  throw new Error(`connection ${index} is not secure`);
}

test('a server with an untrusted certificate receives no request', async () => {
  const url = await listen([ok]);

  expect(await line.post(url)).toEqual({
    kind: 'not_sent',
    reason: `no connection to ${url}: DEPTH_ZERO_SELF_SIGNED_CERT`,
  });
  expect(server.requests).toEqual([]);
});

describe('with a trusted certificate', () => {
  const usual = getCACertificates('default');

  beforeEach(() => setDefaultCACertificates([certificate.cert]));

  afterAll(() => setDefaultCACertificates(usual));

  test('a server responds repeatedly over one connection', async () => {
    const url = await listen([ok, ok]);

    expect([await line.post(url), await line.post(url)]).toEqual([answered, answered]);
    expect(server.sockets).toHaveLength(1);
  });

  test('a server is told the name and HTTP/1.1', async () => {
    const url = await listen([ok]);
    await line.post(url);

    const { servername, alpnProtocol } = secureSocket(0);

    expect({ servername, alpnProtocol }).toEqual({ servername: 'localhost', alpnProtocol: 'http/1.1' });
    expect(server.requests[0]).toContain(`\r\nHost: localhost:${server.port}\r\n`);
  });

  test('a later connection resumes the session', async () => {
    const url = await listen([ok, ok]);
    await line.post(url);
    line.clock.advance(4001);
    await line.post(url);

    expect(resumptions).toEqual([false, true]);
  });

  test('a server whose certificate is for another name never receives a request', async () => {
    await listen([ok, ok]);
    const url = `https://127.0.0.1:${server.port}`;

    const outcomes = [await line.post(url), await line.post(url)];

    const reason = `no connection to ${url}: ERR_TLS_CERT_ALTNAME_INVALID`;
    expect(outcomes).toEqual(Array(2).fill({ kind: 'not_sent', reason }));
    expect(server.requests).toEqual([]);
  });

  test('a large request and a large response arrive whole', async () => {
    const body = '€'.repeat(100_000);
    const large = JSON.stringify({ text: 'é'.repeat(500_000) });
    const url = await listen([(socket) => socket.write(bytesOf(large)), ok]);

    const outcomes = [await line.post(url, { body }), await line.post(url)];

    expect(outcomes).toEqual([{ ...answered, body: large }, answered]);
    expect(
      Buffer.from(server.requests[0] ?? '', 'latin1')
        .toString('utf8')
        .endsWith(body),
    ).toBe(true);
    expect(server.sockets).toHaveLength(1);
  });

  test('a connection that the server closes while idle gets no further request', async () => {
    const url = await listen([ok, ok]);
    await line.post(url);

    const socket = secureSocket(0);
    await new Promise((resolve) => socket.once('close', resolve).end());
    await new Promise((resolve) => setTimeout(resolve, 0));

    expect(await line.post(url)).toEqual(answered);
    expect(server.sockets).toHaveLength(2);
  });
});
