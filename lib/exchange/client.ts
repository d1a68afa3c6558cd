import * as z from 'zod';
import { type Clock, systemClock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { type Json, parseOwnJson } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import { baseUrlOf, type Dialect, nonceRules, spokenDialect, toWire } from './dialect.ts';
import type { Endpoint, ParamsOf, ResultOf } from './endpoint.ts';
import { type NonceRule, type NonceSequence, nonceFields, nonceSequenceOf } from './nonce.ts';
import { createRateBudgets, type RateBudgets } from './rate-limit.ts';
import { describeIssues } from './response.ts';
import { type MaySendAgain, type Message, type Sending, sendRequest, type Wire } from './send.ts';
import { createSigner, type Signer } from './signing.ts';
import { createTransport, type Transport } from './transport.ts';

/** An exchange key. The secret signs; it is never sent. */
export interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
}

export interface SendOptions {
  /** For the whole call, waiting and retries included; 10 000 unless told. */
  readonly timeoutMs?: number;
  /** No attempt starts after this time of the clock; what is not on its way by then is not sent. */
  readonly notAfterMs?: number;
  /**
   * Asked before a request that must not be repeated is sent again after HTTP 429. Absent: it is sent again without a
   * look.
   */
  readonly maySendAgain?: MaySendAgain;
  /**
   * Asked before what must not happen twice is tried again: a caller that was taken for dead meanwhile has nothing to
   * send any more. Absent: it has.
   */
  readonly isStillOwn?: () => Promise<boolean>;
}

/** A request that is checked and complete, save for its nonce and signature. */
export interface PreparedRequest<Result> {
  readonly method: string;
  readonly path: string;
  /** The parameters in the wire's words, as a dry run shows them; never a nonce, key or signature. */
  readonly fields: Json;
  /**
   * Sends it. What is not repeatable can be sent by one call only.
   *
   * @throws ExchangeError when there is no acceptance to show for it
   * @throws RelayError `exchange_request_invalid` when a request that must not be repeated was sent before
   */
  send(options?: SendOptions): Promise<Result>;
}

/** Speaks to one exchange with one key. */
export interface ExchangeClient {
  readonly dialect: Dialect;
  /**
   * Checks the parameters and builds the request; nothing is sent.
   *
   * @throws RelayError `secrets_missing` for a private endpoint without credentials
   * @throws RelayError `exchange_request_invalid` when a parameter does not fit the endpoint
   */
  prepare<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): PreparedRequest<ResultOf<E>>;
  /**
   * Prepares and sends.
   *
   * @throws ExchangeError, and what `prepare` throws
   */
  call<E extends Endpoint>(endpoint: E, params: ParamsOf<E>, options?: SendOptions): Promise<ResultOf<E>>;
}

export interface ExchangeClientOptions {
  /** `global`, `eu` or a URL. */
  readonly address: string;
  readonly dialect: Dialect;
  /** Null: public endpoints only. */
  readonly credentials: Credentials | null;
  readonly clock?: Clock;
  /** Spreads the pauses before retries. */
  readonly random?: Random;
  /** Shared between clients, it is closed by whoever made it. */
  readonly transport?: Transport;
  /** Share one among all clients of a process: the exchange counts by address, not by key. */
  readonly budgets?: RateBudgets;
}

const defaultTimeoutMs = 10_000;

/**
 * @throws RangeError when the address is neither known nor a usable URL
 * @throws RelayError `secrets_missing` when the credentials cannot be a key
 */
export function createExchangeClient(options: ExchangeClientOptions): ExchangeClient & { close(): void } {
  const { dialect, credentials, clock = systemClock, random = Math.random } = options;
  const transport = options.transport ?? createTransport(clock);
  const link: Link = {
    baseUrl: baseUrlOf(options.address),
    dialect,
    key: credentials === null ? null : createKey(credentials, clock, nonceRules[dialect]),
    budgets: options.budgets ?? createRateBudgets(clock),
    wire: { transport, clock, random },
  };
  return {
    dialect,
    prepare: (endpoint, params) => prepareRequest(link, endpoint, params),
    call: async (endpoint, params, sendOptions) =>
      await prepareRequest(link, endpoint, params).send(sendOptions),
    close() {
      if (options.transport === undefined) transport.close();
    },
  };
}

/** What every request of a client has in common. */
interface Link {
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly key: Key | null;
  readonly budgets: RateBudgets;
  readonly wire: Wire;
}

interface Key {
  readonly signer: Signer;
  /** What must not come back; asked for, so that nothing that prints an object shows it. */
  readonly confidential: () => readonly string[];
  readonly nonces: NonceSequence;
  readonly nonceRule: NonceRule;
}

function createKey({ apiKey, apiSecret }: Credentials, clock: Clock, nonceRule: NonceRule): Key {
  return {
    signer: createSigner(apiKey, apiSecret),
    confidential: () => [apiKey, apiSecret],
    nonces: nonceSequenceOf(clock, apiKey),
    nonceRule,
  };
}

function prepareRequest<E extends Endpoint>(
  link: Link,
  endpoint: E,
  params: ParamsOf<E>,
): PreparedRequest<ResultOf<E>> {
  const path = endpoint.path[spokenDialect(link.dialect, endpoint)];
  const fields = JSON.stringify(toWire(link.dialect, endpoint, checkParams(endpoint, params)));
  const sending = createSending(link, endpoint, path, fields);
  let isSpent = false;
  return {
    method: endpoint.method,
    path,
    get fields(): Json {
      return parseOwnJson(fields);
    },
    async send(options = {}) {
      if (isSpent) throw spentError(endpoint);
      isSpent = !endpoint.repeatable;
      const { timeoutMs = defaultTimeoutMs, notAfterMs = Number.POSITIVE_INFINITY, ...hooks } = options;
      return await sendRequest(sending, link.wire, { ...hooks, timeoutMs, notAfterMs });
    },
  };
}

function checkParams<E extends Endpoint>(endpoint: E, params: ParamsOf<E>): unknown {
  const checked = z.safeParse(endpoint.params, params);
  if (checked.success) return checked.data;
  throw new RelayError(
    'exchange_request_invalid',
    `${endpoint.name}: ${describeIssues(checked.error.issues)}; nothing was sent`,
  );
}

function spentError({ name }: Endpoint): RelayError {
  return new RelayError(
    'exchange_request_invalid',
    `${name}: this request was sent before and must not be repeated; prepare another if another is meant`,
  );
}

/** @param fields the parameters in the wire's words, as compact JSON */
function createSending<E extends Endpoint>(
  link: Link,
  endpoint: E,
  path: string,
  fields: string,
): Sending<E> {
  const { baseUrl, dialect, budgets, key } = link;
  const budget = budgets.of(baseUrl, endpoint);
  if (endpoint.access === 'public') {
    const message = composePublic(baseUrl, endpoint, path, fields);
    return { endpoint, dialect, budget, lane: null, compose: () => message };
  }
  if (key === null)
    throw new RelayError(
      'secrets_missing',
      `${endpoint.name}: this needs an exchange key, and there is none`,
    );
  return {
    endpoint,
    dialect,
    budget,
    lane: key.nonceRule === 'increasing' ? key.nonces.lane : null,
    compose: () => composePrivate(baseUrl, endpoint, path, fields, key),
  };
}

/** @see https://www.rfc-editor.org/rfc/rfc9110#name-user-agent a request should name its program */
const userAgent = 'trading-relay';

function composePublic(baseUrl: string, { method }: Endpoint, path: string, fields: string): Message {
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

/** The text is put together once; what is signed is what is sent. */
function composePrivate(
  baseUrl: string,
  { method }: Endpoint,
  path: string,
  fields: string,
  { signer, confidential, nonces, nonceRule }: Key,
): Message {
  const nonce = nonceFields(nonceRule, nonces.next(nonceRule));
  const rest = fields === '{}' ? '}' : `,${fields.slice(1)}`;
  const body = `{"request":"${path}",${nonce}${rest}`;
  const { payload, signature } = signer.sign(body);
  return {
    baseUrl,
    method,
    path,
    headers: {
      'Content-type': 'application/json',
      'User-Agent': userAgent,
      'X-TXC-APIKEY': signer.apiKey,
      'X-TXC-PAYLOAD': payload,
      'X-TXC-SIGNATURE': signature,
    },
    body,
    redacted: [...confidential(), payload, signature],
  };
}
