import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { type AwsAccess, endpointOf } from './aws-client.ts';
import { systemClock } from './clock.ts';
import type { WireOutcome } from './wire.ts';

/**
 * Sends one request to a service with AWS's query protocol, once.
 *
 * @param service its name in addresses and signatures
 * @param fields the parameters of the action, its name and version among them
 * @see https://smithy.io/2.0/aws/protocols/aws-query-protocol.html
 */
export async function sendAwsQuery(
  service: string,
  access: AwsAccess,
  fields: Readonly<Record<string, string>>,
): Promise<WireOutcome> {
  const { clock = systemClock } = access;
  const baseUrl = access.endpoint ?? endpointOf(service, access.region);
  const { protocol, hostname, host } = new URL(baseUrl);
  const body = new URLSearchParams(fields).toString();
  const signer = new SignatureV4({
    service,
    region: access.region,
    credentials: access.credentials,
    sha256: Sha256,
    applyChecksum: false,
  });
  const contentType = 'application/x-www-form-urlencoded; charset=utf-8';
  const unsigned = {
    method: 'POST',
    protocol,
    hostname,
    path: '/',
    query: {},
    headers: { host, 'content-type': contentType },
    body,
  };
  const { headers } = await signer.sign(unsigned, { signingDate: new Date(clock.nowMs()) });
  const { host: _, ...sent } = headers;
  const { connectTimeoutMs, timeoutMs } = access;
  return await access.transport.send({
    baseUrl,
    method: 'POST',
    path: '/',
    headers: sent,
    body,
    connectTimeoutMs,
    timeoutMs,
  });
}
