import * as z from 'zod/mini';
import { type Clock, systemClock } from '../base/clock.ts';
import { RelayError } from '../base/errors.ts';
import { type Json, parseOwnJson } from '../base/json.ts';
import type { Random } from '../base/random.ts';
import { createTransport } from '../base/transport.ts';
import type { Transport } from '../base/wire.ts';
import { composePrivate, composePublic, createKey, type Key } from './compose-message.ts';
import { baseUrlOf, type Dialect, nonceRules, spokenDialect, toWire } from './dialect.ts';
import type { Endpoint, ParamsOf, ResultOf } from './endpoint.ts';
import { fillPath } from './path-template.ts';
import { createRateBudgets, type RateBudgets } from './rate-limit.ts';
import { describeIssues } from './response.ts';
import { type Sending, sendRequest, type Wire } from './send.ts';

/** An API key of the exchange. The secret signs requests and is never sent. */
export interface Credentials {
  readonly apiKey: string;
  readonly apiSecret: string;
}

export interface SendOptions {
  /** For the whole call, waiting and retries included. Default: 10 000. */
  readonly timeoutMs?: number;
  /** No attempt starts after this time of the clock. A request that has not been sent by then is not sent. */
  readonly notAfterMs?: number;
  /** The call ends by this time of the clock, whatever its timeout. Calls that share it share their time. */
  readonly endByMs?: number;
  /**
   * Called before a request that must not be repeated is tried again. It returns false if another worker has
   * taken over from the caller, which must then stop sending. Absent: the caller may go on.
   */
  readonly isStillOwn?: () => Promise<boolean>;
}

/** A request that is checked and complete except for its nonce and signature. */
export interface PreparedRequest<Result> {
  readonly method: string;
  readonly path: string;
  /**
   * The parameters under their wire names, as a dry run shows them. Never holds a nonce, key or signature.
   */
  readonly fields: Json;
  /**
   * Sends the request. A request that is not repeatable can be sent by one call only.
   *
   * @throws ExchangeError when the exchange did not provably accept the request
   * @throws RelayError `exchange_request_invalid` when a request that must not be repeated was sent before
   */
  send(options?: SendOptions): Promise<Result>;
}

/** Calls one exchange with one API key. */
export interface ExchangeClient {
  readonly dialect: Dialect;
  /**
   * Checks the parameters and builds the request. Sends nothing.
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
  /** Randomizes the pauses before retries. */
  readonly random?: Random;
  /** If given, it may be shared between clients, and its creator closes it. */
  readonly transport?: Transport;
  /** Share one among all clients of a process: the exchange counts requests by IP address, not by key. */
  readonly budgets?: RateBudgets;
}

const defaultTimeoutMs = 10_000;

/**
 * @throws RangeError when the address is neither a known name nor a usable URL
 * @throws RelayError `secrets_missing` when the key or the secret is empty or holds a character no key has
 */
export function createExchangeClient(options: ExchangeClientOptions): ExchangeClient & { close(): void } {
  const { dialect, credentials, clock = systemClock, random = Math.random } = options;
  const transport = options.transport ?? createTransport(clock);
  const link: Link = {
    baseUrl: baseUrlOf(options.address),
    dialect,
    key: credentials === null ? null : createKey(credentials, clock, random, nonceRules[dialect]),
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

/** The parts that all requests of a client share. */
interface Link {
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly key: Key | null;
  readonly budgets: RateBudgets;
  readonly wire: Wire;
}

function prepareRequest<E extends Endpoint>(
  link: Link,
  endpoint: E,
  params: ParamsOf<E>,
): PreparedRequest<ResultOf<E>> {
  const wireFields = toWire(link.dialect, endpoint, checkParams(endpoint, params));
  const filled = fillPath(endpoint.path[spokenDialect(link.dialect, endpoint)], Object(wireFields));
  const path = filled.path;
  const fields = JSON.stringify(filled.fields);
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
      const { notAfterMs = Number.POSITIVE_INFINITY, ...hooks } = options;
      const timeoutMs = timeLeftMs(options, link.wire.clock);
      return await sendRequest(sending, link.wire, { ...hooks, timeoutMs, notAfterMs });
    },
  };
}

/** With no time left, the request is not sent, and its error says so. */
function timeLeftMs({ timeoutMs = defaultTimeoutMs, endByMs }: SendOptions, clock: Clock): number {
  if (endByMs === undefined) return timeoutMs;
  return Math.max(0, Math.min(timeoutMs, endByMs - clock.nowMs()));
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
    `${name}: this request was already sent and must not be repeated; to send another one, prepare a new request`,
  );
}

/** @param fields the parameters under their wire names, as compact JSON */
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
      `${endpoint.name}: this endpoint needs an exchange key, and none is configured`,
    );
  return {
    endpoint,
    dialect,
    budget,
    lane: key.nonceRule === 'increasing' ? key.lane : null,
    compose: () => composePrivate(baseUrl, endpoint, path, fields, key),
  };
}
