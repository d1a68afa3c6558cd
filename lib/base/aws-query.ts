import { type AwsAccess, createSignedPost } from './aws-client.ts';
import type { WireOutcome } from './wire.ts';

const contentType = 'application/x-www-form-urlencoded; charset=utf-8';

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
  const post = createSignedPost(service, access);
  return await post({ 'content-type': contentType }, new URLSearchParams(fields).toString());
}
