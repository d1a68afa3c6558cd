import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isRecord, readJson } from '../../base/json.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import { type PaperKey, paperKeys } from '../engine/accounts.ts';
import type { RefusalName } from '../engine/refusals.ts';

/** A request to a private endpoint, as it arrived. */
export interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly body: Buffer;
  readonly atMs: number;
  /** Whether it places or cancels orders. */
  readonly trades: boolean;
}

export type AccessVerdict =
  | { readonly allowed: true; readonly account: string; readonly body: Readonly<Record<string, unknown>> }
  | { readonly allowed: false; readonly refusal: RefusalName };

/** Authenticates a request by signature, body and nonce. One per exchange, because it stores nonces. */
export type AccessCheck = (request: SignedRequest) => AccessVerdict;

/** Key → its secret and what it may do. */
export type PaperKeys = ReadonlyMap<string, PaperKey>;

/** Implemented independently of the relay's signing, so that each checks the other. */
export function createAccessCheck(dialect: Dialect, keys: PaperKeys = paperKeys): AccessCheck {
  const nonces = new Map<string, NonceMemory>();
  return (request) => {
    const apiKey = String(request.headers['x-txc-apikey'] ?? '');
    const key = keys.get(apiKey);
    if (key === undefined) return deny('unauthorized');
    const refusal = checkSignature(request, key);
    if (refusal !== null) return deny(refusal);
    const body = readBody(request, dialect);
    if (body === null) return deny('payload_invalid');
    if (!key.enabled) return deny('key_disabled');
    const memory = nonces.get(apiKey) ?? { last: -1n, recent: new Map(), texts: new Set() };
    nonces.set(apiKey, memory);
    const stale = checkNonces[dialect](memory, body, request.atMs);
    if (stale !== null) return deny(stale);
    if (request.trades && !key.mayTrade) return deny('key_may_not');
    return { allowed: true, account: key.account, body };
  };
}

function deny(refusal: RefusalName): AccessVerdict {
  return { allowed: false, refusal };
}

function checkSignature({ headers, body }: SignedRequest, key: PaperKey): RefusalName | null {
  const payload = body.toString('base64');
  if (headers['x-txc-payload'] !== payload) return 'payload_invalid';
  const expected = Buffer.from(createHmac('sha512', key.apiSecret).update(payload).digest('hex'));
  const given = Buffer.from(String(headers['x-txc-signature'] ?? ''));
  return given.length === expected.length && timingSafeEqual(given, expected) ? null : 'unauthorized';
}

/** Null unless the body is JSON, an object, has the JSON content type and names the request path. */
function readBody({ headers, body, path }: SignedRequest, dialect: Dialect): Record<string, unknown> | null {
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return null;
  const text = body.toString('utf8');
  if (dialect === 'live' && hasSpaces(text)) return null;
  const value = parseObject(text);
  return value?.['request'] === path ? value : null;
}

/**
 * The live service refuses JSON with spaces between its words. The written API asks for no compact form.
 *
 * @see https://docs.whitebit.com/guides/first-api-call
 */
function hasSpaces(json: string): boolean {
  return /\s/.test(json.replace(/"(?:[^"\\]|\\.)*"/g, ''));
}

function parseObject(text: string): Record<string, unknown> | null {
  const value = readJson(text);
  return isRecord(value) ? { ...value } : null;
}

interface NonceMemory {
  /** The greatest nonce received without a window. */
  last: bigint;
  /** Nonces received with a window that could still be repeated → their times in milliseconds. */
  readonly recent: Map<bigint, number>;
  /** Nonces that are not numbers. */
  readonly texts: Set<string>;
}

const windowMs = 5000;

type NonceCheck = (
  memory: NonceMemory,
  body: Readonly<Record<string, unknown>>,
  atMs: number,
) => RefusalName | null;

const checkNonces: Readonly<Record<Dialect, NonceCheck>> = {
  documented: checkWrittenNonce,
  live: checkLiveNonce,
};

/**
 * The written API asks for a unique string. Numeric nonces must also increase, as the live service demands.
 */
function checkWrittenNonce(memory: NonceMemory, { nonce: value }: Readonly<Record<string, unknown>>) {
  if (isMissing(value)) return 'nonce_required';
  if (typeof value !== 'string') return 'nonce_not_text';
  const nonce = readNonce(value);
  const isFresh = nonce === null ? !memory.texts.has(value) : isGreater(memory, nonce);
  if (nonce === null) memory.texts.add(value);
  return isFresh ? null : 'nonce_refused';
}

function checkLiveNonce(memory: NonceMemory, body: Readonly<Record<string, unknown>>, atMs: number) {
  if (isMissing(body['nonce'])) return 'nonce_required';
  const nonce = readNonce(body['nonce']);
  if (nonce === null) return 'nonce_refused';
  const isFresh =
    body['nonceWindow'] === true ? isNewInWindow(memory, nonce, atMs) : isGreater(memory, nonce);
  return isFresh ? null : 'nonce_refused';
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function readNonce(value: unknown): bigint | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,30}$/.test(text) ? BigInt(text) : null;
}

function isGreater(memory: NonceMemory, nonce: bigint): boolean {
  if (nonce <= memory.last) return false;
  memory.last = nonce;
  return true;
}

function isNewInWindow({ recent }: NonceMemory, nonce: bigint, atMs: number): boolean {
  for (const [old, timeMs] of recent) if (timeMs < atMs - windowMs) recent.delete(old);
  if (Math.abs(Number(nonce) - atMs) > windowMs || recent.has(nonce)) return false;
  recent.set(nonce, Number(nonce));
  return true;
}
