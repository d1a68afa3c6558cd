import { token } from './http-head.ts';
import type { WireRequest } from './wire.ts';

/** A request as it is written to a connection, or why it must not be written. */
export type ComposedRequest =
  | { readonly kind: 'bytes'; readonly text: string; readonly encoding: 'latin1' | 'utf8' }
  | { readonly kind: 'invalid'; readonly reason: string };

const method = /^(?:DELETE|GET|HEAD|PATCH|POST|PUT)$/;
const target = /^\/[\x21-\x7e]*$/;
const fieldName = new RegExp(`^${token.source}$`);
const fieldValue = /^[\t\x20-\x7e]*$/;
/** These decide where the request ends and where it goes, so nobody else may write them. */
const ownFields = /^(?:host|connection|content-length|transfer-encoding|expect|upgrade|trailer|te)$/i;

/**
 * Writes head and body as one text, so that one write sends it all.
 *
 * A line break in a header would begin another header or another request. The reason never contains a value,
 * because it may be a secret.
 *
 * @param host name and port of the address, as in its URL
 */
export function composeRequest(request: WireRequest, host: string): ComposedRequest {
  const { body } = request;
  if (!method.test(request.method)) return invalid('its method is unknown');
  if (!target.test(request.path)) return invalid('its path holds characters that HTTP does not allow');
  let head = `${request.method} ${request.path} HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive\r\n`;
  for (const name in request.headers) {
    const value = request.headers[name] ?? '';
    if (!fieldName.test(name) || ownFields.test(name) || !fieldValue.test(value))
      return invalid(describeField(name));
    head += `${name}: ${value}\r\n`;
  }
  if (body === null && (request.method === 'GET' || request.method === 'HEAD'))
    return { kind: 'bytes', text: `${head}\r\n`, encoding: 'latin1' };
  const text = body ?? '';
  const sizeBytes = Buffer.byteLength(text);
  // With one byte for each character, the text is ASCII.
  const encoding = sizeBytes === text.length ? 'latin1' : 'utf8';
  return { kind: 'bytes', text: `${head}Content-Length: ${sizeBytes}\r\n\r\n${text}`, encoding };
}

function describeField(name: string): string {
  if (!fieldName.test(name)) return 'the name of a header holds characters that HTTP does not allow';
  return ownFields.test(name)
    ? `its header ${name} is written by the transport alone`
    : `its header ${name} holds characters that HTTP does not allow`;
}

function invalid(reason: string): ComposedRequest {
  return { kind: 'invalid', reason: `the request is not valid: ${reason}` };
}
