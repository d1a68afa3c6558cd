import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { measureDistance, summarize } from '../../cli/checks/measure-distance.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createSelfSignedCertificate } from '../support/self-signed-certificate.ts';
import { runCli, runForFailure, runForJson, spawnCli } from './run-cli.ts';

let paper: PaperExchange;

beforeAll(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'live', walk: false });
});
afterAll(() => paper.close());

test('regions measures the way to the exchange, and names regions to compare with their source', async () => {
  expect(await runForJson(['regions', '--address', paper.url, '--samples', '3'])).toEqual({
    exchangeUrl: paper.url,
    region: process.env['AWS_REGION'] ?? null,
    samples: 3,
    connectMs: expect.any(Number),
    tlsMs: null,
    requestMs: expect.any(Number),
    newConnectionMs: expect.any(Number),
    candidates: [
      { region: 'eu-central-1', place: 'Frankfurt' },
      { region: 'ap-northeast-1', place: 'Tokyo' },
    ],
    known: {
      says: expect.stringContaining('where its public address leads, it does not say'),
      source: 'https://docs.whitebit.com/guides/market-maker-guide',
      readOn: '2026-11-24',
    },
    command: expect.stringContaining(`${paper.url}/api/v4/public/ping; done | sort -k3 -n | sed -n 2p`),
  });
});

test('regions shows a table and the line for CloudShell', async () => {
  const { stdout } = await runCli(['regions', '--address', paper.url]);

  expect(stdout).toMatch(/in milliseconds, median of 9:/);
  expect(stdout).toMatch(/^ *[\d.]+ +– +[\d.]+ +[\d.]+$/m);
  expect(stdout).toContain('for i in $(seq 9); do curl');
});

describe('regions fails with what to do', () => {
  test('when the exchange cannot be reached', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');

    expect(await runForFailure(['regions', '--address', `http://127.0.0.1:${port}`])).toMatchObject({
      exitCode: 1,
      code: 'exchange_unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
      action: expect.stringContaining('Check the address'),
    });
  });

  test('when something in front of the exchange turns it away', async () => {
    const server = createServer((_, response) => response.writeHead(451).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    expect(await runForFailure(['regions', '--address', `http://127.0.0.1:${port}`])).toMatchObject({
      code: 'exchange_unreachable',
      message: expect.stringContaining('it responded with HTTP 451'),
    });
    server.close();
  });

  test.each([
    ['--address', 'http://exchange.example'],
    ['--samples', '0'],
  ])('when %s is %s', async (option, value) => {
    expect(await runForFailure(['regions', option, value])).toMatchObject({ exitCode: 2, code: 'usage' });
  });
});

test('A server that never responds is given up', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  await expect(measureDistance({ baseUrl, path: '/', samples: 1, timeoutMs: 50 })).rejects.toMatchObject({
    name: 'AbortError',
  });
  server.closeAllConnections();
  server.close();
});

test('Over TLS the handshake counts by itself, and a certificate that nobody vouches for is refused', async () => {
  const certificate = createSelfSignedCertificate();
  const folder = mkdtempSync(join(tmpdir(), 'relay-regions-'));
  const path = join(folder, 'authority.pem');
  writeFileSync(path, certificate.cert);
  const server = createTlsServer(certificate, (_, response) => response.end('["pong"]')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const args = [
    'regions',
    '--json',
    '--address',
    `https://localhost:${(server.address() as AddressInfo).port}`,
  ];

  const trusted = await spawnCli(args, { NODE_EXTRA_CA_CERTS: path });
  const untrusted = await spawnCli(args);
  server.close();
  rmSync(folder, { recursive: true });

  expect(JSON.parse(trusted.stdout)).toMatchObject({ samples: 9, tlsMs: expect.any(Number) });
  expect(JSON.parse(untrusted.stderr)).toMatchObject({ error: { code: 'exchange_unreachable' } });
});

describe('The medians of samples', () => {
  test('are taken part by part, and of the sums, to a tenth of a millisecond', () => {
    expect(
      summarize([
        { connectMs: 10, tlsMs: 20.04, requestMs: 30 },
        { connectMs: 12, tlsMs: 90, requestMs: 31 },
        { connectMs: 11, tlsMs: 21, requestMs: 99 },
      ]),
    ).toEqual({ samples: 3, connectMs: 11, tlsMs: 21, requestMs: 31, newConnectionMs: 131 });
  });

  test('of an even number lie between the two in the middle', () => {
    expect(
      summarize([
        { connectMs: 1, tlsMs: null, requestMs: 4 },
        { connectMs: 2, tlsMs: null, requestMs: 5 },
      ]),
    ).toEqual({ samples: 2, connectMs: 1.5, tlsMs: null, requestMs: 4.5, newConnectionMs: 6 });
  });
});
