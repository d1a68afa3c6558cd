import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, spokenDialect, toWire } from '../../exchange/dialect.ts';
import type { Endpoint } from '../../exchange/endpoint.ts';
import type { RefusalName } from '../engine/refusals.ts';
import type { Trading } from '../engine/trading.ts';
import { createAccessCheck, type PaperKeys } from '../requests/access.ts';
import { createRateWindow } from '../requests/rate-window.ts';
import { type RefusalForm, refusalResponse } from '../requests/refusal-responses.ts';
import type { PaperEndpoint } from '../requests/request-context.ts';
import { createRouteTable, type FoundRoute } from '../requests/route-table.ts';
import { createFieldReader } from '../requests/validation.ts';
import { routes } from './routes.ts';

/** A complete HTTP request, as it arrived. */
export interface PaperRequest {
  readonly method: string;
  /** The path, with its query if it has one. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** When it arrived. */
  readonly atMs: number;
  /** How far the order lists lag behind; absent: not at all. */
  readonly lagMs?: number;
  /** Whether the list of positions shows the attached exits; absent: it does not. */
  readonly showsTpsl?: boolean;
}

/** The response to a request. A text body is sent unchanged, null as an empty body, anything else as JSON. */
export interface PaperResponse {
  readonly httpStatus: number;
  readonly body: unknown;
}

/** Whether a request has a route and is within its rate limit. */
export type Admission =
  | { readonly admitted: false; readonly response: PaperResponse }
  | {
      readonly admitted: true;
      readonly endpoint: PaperEndpoint;
      /**
       * Takes effect at once. Resolves once the effect is stored. Must be called at most once.
       *
       * @param lists overrides what the request says of the lists
       */
      serve(lists?: Pick<PaperRequest, 'lagMs' | 'showsTpsl'>): Promise<PaperResponse>;
    };

/** The exchange without HTTP. Its responses depend only on the requests and the trades. */
export interface PaperCore {
  /** Finds the endpoint and checks its rate limit. */
  admit(request: PaperRequest): Admission;
  /**
   * Admits a request and serves it.
   *
   * @throws RelayError `store_unavailable` when the journal is lost
   */
  handle(request: PaperRequest): Promise<PaperResponse>;
}

export interface PaperCoreOptions {
  readonly dialect: Dialect;
  readonly trading: Trading;
  /** Absent: the public keys of the paper exchange on one machine. */
  readonly keys?: PaperKeys;
}

/**
 * Creates an exchange that stores nonces and counts requests. It has no clock: each request carries its time.
 */
export function createPaperCore(options: PaperCoreOptions): PaperCore {
  const { dialect } = options;
  const table = createRouteTable(routes, dialect);
  const windows = new Map(
    table.endpoints.map((endpoint) => [endpoint.name, createRateWindow(endpoint.requestsPer10s)]),
  );
  const serve = createService(options);

  function admit(request: PaperRequest): Admission {
    const path = withoutQuery(request.target);
    const found = table.find(request.method, path);
    if (found === null) return turnAway('path_unknown', { dialect, access: accessOf(path) });
    const { endpoint } = found.route;
    if (!windows.get(endpoint.name)?.(request.atMs))
      return turnAway('rate_limited', { dialect, access: endpoint.access });
    return {
      admitted: true,
      endpoint,
      serve: (lists = {}) => serve(found, path, { lagMs: 0, showsTpsl: false, ...request, ...lists }),
    };
  }

  return {
    admit,
    async handle(request) {
      const admission = admit(request);
      return admission.admitted ? admission.serve() : admission.response;
    },
  };
}

function turnAway(name: RefusalName, form: RefusalForm): Admission {
  return { admitted: false, response: refusalResponse([{ name }], form) };
}

/** The response to a request with a body that is too large. */
export function tooLargeResponse(dialect: Dialect, target: string): PaperResponse {
  return refusalResponse([{ name: 'body_too_large' }], { dialect, access: accessOf(withoutQuery(target)) });
}

/** Whether a path is public. It need not belong to an endpoint. */
function accessOf(path: string): Endpoint['access'] {
  return path.startsWith('/api/v4/public/') ? 'public' : 'private';
}

/** The path of a request's target, without the query. */
export function withoutQuery(target: string): string {
  return target.split('?', 1)[0] ?? '/';
}

/** The query of a request's target. */
function queryOf(target: string): Readonly<Record<string, string>> {
  const start = target.indexOf('?');
  return start < 0 ? {} : Object.fromEntries(new URLSearchParams(target.slice(start)));
}

type Service = (found: FoundRoute, path: string, request: Required<PaperRequest>) => Promise<PaperResponse>;

function createService({ dialect, trading, keys }: PaperCoreOptions): Service {
  const checkAccess = createAccessCheck(dialect, keys);
  return async ({ route, pathFields }, path, { target, headers, body, atMs, lagMs, showsTpsl }) => {
    const { endpoint, trades, serve } = route;
    const access =
      endpoint.access === 'public'
        ? { allowed: true as const, account: '', body: { ...queryOf(target), ...pathFields } }
        : checkAccess({ headers, path, body, atMs, trades });
    const form = { dialect, access: endpoint.access };
    if (!access.allowed) return refusalResponse([{ name: access.refusal }], form);
    const read = createFieldReader(dialect, endpoint, access.body);
    const spoken = spokenDialect(dialect, endpoint);
    const { account } = access;
    const reply = serve({ account, read, dialect: spoken, atMs, lagMs, showsTpsl, trading });
    if (!reply.ok) return refusalResponse(reply.refusals, form);
    await reply.stored;
    return { httpStatus: 200, body: toWire(dialect, endpoint, reply.result) };
  };
}

/** A response as it is sent over HTTP. */
export interface EncodedResponse {
  readonly status: number;
  readonly body: string;
}

export function encodeResponse({ httpStatus, body }: PaperResponse): EncodedResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status: httpStatus, body: body === null ? '' : text };
}
