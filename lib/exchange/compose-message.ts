import type { Clock } from '../base/clock.ts';
import { parseOwnJson } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import type { Confirmation } from '../base/wire.ts';
import type { Endpoint } from './endpoint.ts';
import { ping } from './endpoints/ping.ts';
import { type Lane, type NonceRule, nonceFields, nonceSequenceOf } from './nonce.ts';
import { readResponse } from './response.ts';
import type { Message } from './send.ts';
import { createSigner, type Signer } from './signing.ts';

/** What the requests of one API key are signed with. */
export interface Key {
  readonly signer: Signer;
  /** The texts to redact in responses. A function, so that printing the object does not show them. */
  readonly confidential: () => readonly string[];
  /** A new nonce for a request to this endpoint. */
  nonceFor(endpoint: Endpoint): number;
  /** Where requests wait for others with the same key. */
  readonly lane: Lane;
  readonly nonceRule: NonceRule;
}

export function createKey(
  { apiKey, apiSecret }: { readonly apiKey: string; readonly apiSecret: string },
  clock: Clock,
  random: Random,
  nonceRule: NonceRule,
): Key {
  const nonces = nonceSequenceOf(clock, apiKey);
  return {
    signer: createSigner(apiKey, apiSecret),
    confidential: () => [apiKey, apiSecret],
    nonceFor: ({ repeatable }) =>
      repeatable ? nonces.next(nonceRule) : nonces.nextOfCreate(nonceRule, random),
    lane: nonces.lane,
    nonceRule,
  };
}

/** @see https://www.rfc-editor.org/rfc/rfc9110#name-user-agent a client should name itself in each request */
const userAgent = 'trading-relay';

export function composePublic(baseUrl: string, { method }: Endpoint, path: string, fields: string): Message {
  const query = new URLSearchParams(parseOwnJson<Record<string, string>>(fields)).toString();
  return {
    baseUrl,
    method,
    path: query === '' ? path : `${path}?${query}`,
    headers: { 'User-Agent': userAgent },
    body: null,
    redacted: [],
  };
}

/** A ping: no other request of the relay gets its response. */
const pong: Confirmation = {
  path: ping.path.live,
  headers: { 'User-Agent': userAgent },
  isExpected: ({ status, body }) =>
    readResponse(ping, 'live', { kind: 'answered', status, body }, []).kind === 'accepted',
};

/** Builds the body once, so that the signed bytes are the bytes that are sent. */
export function composePrivate(
  baseUrl: string,
  endpoint: Endpoint,
  path: string,
  fields: string,
  { signer, confidential, nonceFor, nonceRule }: Key,
): Message {
  const nonce = nonceFields(nonceRule, nonceFor(endpoint));
  const rest = fields === '{}' ? '}' : `,${fields.slice(1)}`;
  const body = `{"request":"${path}",${nonce}${rest}`;
  const { payload, signature } = signer.sign(body);
  return {
    baseUrl,
    method: endpoint.method,
    path,
    headers: {
      'Content-type': 'application/json',
      'User-Agent': userAgent,
      'X-TXC-APIKEY': signer.apiKey,
      'X-TXC-PAYLOAD': payload,
      'X-TXC-SIGNATURE': signature,
    },
    body,
    confirmation: pong,
    redacted: [...confidential(), payload, signature],
  };
}
