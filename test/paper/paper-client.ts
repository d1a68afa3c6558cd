import { createHmac } from 'node:crypto';
import type { ManualClock } from '../support/manual-clock.ts';

/** Sets a clock forward or back. */
export function moveTo(clock: ManualClock, timeMs: number): void {
  clock.advance(timeMs - clock.nowMs());
}

export interface Received {
  readonly status: number;
  /** The parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
}

export interface Key {
  readonly apiKey: string;
  readonly apiSecret: string;
}

export const mainKey: Key = { apiKey: 'paper-key', apiSecret: 'paper-secret' };
export const secondKey: Key = { apiKey: 'paper-key-2', apiSecret: 'paper-secret-2' };

/** The signed headers of a body. The tests share no signing code with the relay or the paper exchange. */
export function signBody(body: string, key: Key): Record<string, string> {
  const payload = Buffer.from(body).toString('base64');
  return {
    'content-type': 'application/json',
    'x-txc-apikey': key.apiKey,
    'x-txc-payload': payload,
    'x-txc-signature': createHmac('sha512', key.apiSecret).update(payload).digest('hex'),
  };
}

export async function receive(response: Response): Promise<Received> {
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: text };
  }
}

export type Post = (path: string, fields?: Readonly<Record<string, unknown>>, key?: Key) => Promise<Received>;

/** Signed requests with increasing nonces. */
export function createPost(url: string): Post {
  let nonce = 1;
  return async (path, fields = {}, key = mainKey) => {
    nonce += 1;
    const body = JSON.stringify({ ...fields, request: path, nonce: String(nonce) });
    return receive(await fetch(`${url}${path}`, { method: 'POST', body, headers: signBody(body, key) }));
  };
}

export async function get(url: string, path: string): Promise<Received> {
  return receive(await fetch(`${url}${path}`));
}

/** The response that refuses a request because of one parameter. */
export function refusal(key: string, text: string, code = 30): Received {
  return { status: 422, body: { code, message: 'Validation failed', errors: { [key]: [text] } } };
}
