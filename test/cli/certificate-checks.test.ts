import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { judgeCertificate, readCertificate } from '../../cli/checks/certificate-checks.ts';
import { createSelfSignedCertificate } from '../support/self-signed-certificate.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const inDays = (days: number) => ({ validUntilMs: nowMs + days * 86_400_000, complaint: null });

describe('the certificate of the address of the alerts', () => {
  test.each([
    [inDays(60), 'ok', 'that of relay.example is valid until 2027-01-23'],
    [inDays(20), 'warn', 'that of relay.example ends on 2026-12-14'],
    [inDays(-1), 'fail', 'that of relay.example has ended on 2026-11-23'],
    [
      { ...inDays(60), complaint: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
      'fail',
      'that of relay.example is not accepted: DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    [null, 'warn', 'relay.example does not answer from here'],
  ] as const)('%j is judged as %s', (presented, verdict, found) => {
    expect(judgeCertificate('relay.example', presented, nowMs)).toMatchObject({ verdict, found });
  });
});

describe('a server with a certificate', () => {
  let server: Server | null = null;
  afterEach(() => void server?.close());

  test('is asked for it, and for why it is not accepted', async () => {
    server = createServer(createSelfSignedCertificate());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;

    const presented = await readCertificate({ hostname: 'localhost', port: String(port) });

    expect(presented).toEqual({
      validUntilMs: Date.parse('2049-12-31T23:59:59Z'),
      complaint: expect.stringMatching(/SELF_SIGNED/),
    });
  });
});
