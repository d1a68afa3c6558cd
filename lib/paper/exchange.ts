import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, spokenDialect, toWire } from '../exchange/dialect.ts';
import type { Endpoint } from '../exchange/endpoint.ts';
import { createAccessCheck } from './access.ts';
import { createRateWindow } from './rate-window.ts';
import { type RefusalForm, refusalResponse } from './refusal-responses.ts';
import type { RefusalName } from './refusals.ts';
import { routesByAddress } from './routes.ts';
import type { Trading } from './trading.ts';
import { createFieldReader } from './validation.ts';
import type { PaperEndpoint, Route } from './visit.ts';

/** A request as it arrived, whole. */
export interface PaperRequest {
  readonly method: string;
  /** The path, with its query if it has one. */
  readonly target: string;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** When it arrived. */
  readonly atMs: number;
  /** How far the lists of orders trail behind; absent: not at all. */
  readonly lagMs?: number;
}

/** What a request ends with; a text goes out as it is, anything else as JSON, null as an empty body. */
export interface PaperResponse {
  readonly httpStatus: number;
  readonly body: unknown;
}

/** What became of a request at the door. */
export type Admission =
  | { readonly admitted: false; readonly response: PaperResponse }
  | {
      readonly admitted: true;
      readonly endpoint: PaperEndpoint;
      /**
       * Takes effect at once; resolves once nothing can take the effect back. To be called once at most.
       *
       * @param lagMs takes the place of the request's own
       */
      serve(lagMs?: number): Promise<PaperResponse>;
    };

/** An exchange without its wire: its responses follow from the requests and what was traded, and from nothing else. */
export interface PaperCore {
  /** Finds the endpoint and holds the request against its rate limit. */
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
}

/** An exchange that remembers nonces and counts requests; all of its time comes with the requests. */
export function createPaperCore(options: PaperCoreOptions): PaperCore {
  const { dialect } = options;
  const routes = routesByAddress(dialect);
  const windows = new Map(
    [...routes.values()].map(({ endpoint }) => [endpoint.name, createRateWindow(endpoint.requestsPer10s)]),
  );
  const serve = createService(options);

  function admit(request: PaperRequest): Admission {
    const path = pathOf(request.target);
    const route = routes.get(`${request.method} ${path}`);
    if (route === undefined) return turnAway('path_unknown', { dialect, access: accessOf(path) });
    const { endpoint } = route;
    if (!windows.get(endpoint.name)?.(request.atMs))
      return turnAway('rate_limited', { dialect, access: endpoint.access });
    return {
      admitted: true,
      endpoint,
      serve: (lagMs = request.lagMs) => serve(route, path, { ...request, lagMs: lagMs ?? 0 }),
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

/** The response to a request whose body is too large to be read. */
export function tooLargeResponse(dialect: Dialect, target: string): PaperResponse {
  return refusalResponse([{ name: 'body_too_large' }], { dialect, access: accessOf(pathOf(target)) });
}

/** Whether a path, of an endpoint or not, would be public. */
function accessOf(path: string): Endpoint['access'] {
  return path.startsWith('/api/v4/public/') ? 'public' : 'private';
}

/** The path of a request's target, without the query. */
export function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '/';
}

type Service = (route: Route, path: string, request: Required<PaperRequest>) => Promise<PaperResponse>;

function createService({ dialect, trading }: PaperCoreOptions): Service {
  const checkAccess = createAccessCheck(dialect);
  return async ({ endpoint, trades, serve }, path, { headers, body, atMs, lagMs }) => {
    const access =
      endpoint.access === 'public'
        ? { allowed: true as const, account: '', body: {} }
        : checkAccess({ headers, path, body, atMs, trades });
    const form = { dialect, access: endpoint.access };
    if (!access.allowed) return refusalResponse([{ name: access.refusal }], form);
    const read = createFieldReader(dialect, endpoint, access.body);
    const spoken = spokenDialect(dialect, endpoint);
    const reply = serve({ account: access.account, read, dialect: spoken, atMs, lagMs, trading });
    if (!reply.ok) return refusalResponse(reply.refusals, form);
    await reply.stored;
    return { httpStatus: 200, body: toWire(dialect, endpoint, reply.result) };
  };
}

/** A response as a client reads it off the wire. */
export interface EncodedResponse {
  readonly status: number;
  readonly body: string;
}

export function encodeResponse({ httpStatus, body }: PaperResponse): EncodedResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status: httpStatus, body: body === null ? '' : text };
}
