import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { projectRoot } from '../support/project-files.ts';
import { type RawStep, startRawServer } from '../support/raw-server.ts';
import { bytesOf, type Line, openLine } from './line.ts';

let line: Line;

beforeEach(() => {
  line = openLine();
});

afterEach(() => line.close());

const ok = bytesOf('{"ok":true}');
const answered = { kind: 'answered', status: 200, body: '{"ok":true}' };

test('a name with several addresses is tried until one is reached', async () => {
  const server = await line.serveRaw([ok]);

  expect(await line.post(`http://localhost:${server.port}`)).toEqual(answered);
  expect(server.requests[0]).toContain(`\r\nHost: localhost:${server.port}\r\n`);
});

test('a name none of whose addresses is reached gets no request', async () => {
  const server = createServer();
  const url = (await line.listen(server, 'http')).replace('127.0.0.1', 'localhost');
  server.close();
  await once(server, 'close');

  expect(await line.post(url)).toEqual({ kind: 'not_sent', reason: `no connection to ${url}: ECONNREFUSED` });
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

(hasIpv6 ? test : test.skip)('an IPv6 address has brackets in the URL and in the header', async () => {
  const listener = createServer();
  const server = await startRawServer([ok], listener, 'connection', '::1');

  const outcome = await line.post(`http://[::1]:${server.port}`);
  line.transport.close();
  await server.close();

  expect(outcome).toEqual(answered);
  expect(server.requests[0]).toContain(`\r\nHost: [::1]:${server.port}\r\n`);
});

test('each address has connections of its own', async () => {
  const servers = [await line.serveRaw([ok, ok]), await line.serveRaw([ok, ok])];

  for (const { url } of [...servers, ...servers]) expect(await line.post(url)).toEqual(answered);

  expect(servers.map(({ sockets, requests }) => [sockets.length, requests.length])).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test('an address that is neither http nor https is an error of the program', async () => {
  await expect(line.post('ftp://exchange.example')).rejects.toThrow('is neither http nor https');
});

test('an idle connection does not keep the process alive, a request does', async () => {
  const later: RawStep = (socket) => setTimeout(() => socket.write(ok), 0);
  const server = await line.serveRaw([later, later]);
  const module = pathToFileURL(`${projectRoot}/lib/base/transport.ts`);
  const program = `
    import { createTransport } from '${module}';
    const limits = { connectTimeoutMs: 60_000, timeoutMs: 60_000 };
    const request = { baseUrl: '${server.url}', method: 'GET', path: '/', headers: {}, body: null, ...limits };
    const transport = createTransport();
    console.log(JSON.stringify([await transport.send(request), await transport.send(request)]));
  `;

  // It ends by itself, although its connection stays open and its time-out lies ahead.
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '--eval', program], (error, text) =>
      error === null ? resolve(text) : reject(error),
    );
  });

  expect(JSON.parse(stdout)).toEqual([answered, answered]);
  expect(server.sockets).toHaveLength(1);
}, 50_000);
