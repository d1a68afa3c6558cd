import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { type Dialect, spokenDialect, toWire } from '../exchange/dialect.ts';
import { createAccessCheck } from './access.ts';
import { type Controlled, serveControl } from './control.ts';
import { type FaultBox, rateLimitBody, type Strike } from './faults.ts';
import { createRateWindow } from './rate-window.ts';
import { answerRefusals, type Refusal } from './refusals.ts';
import { type Route, routesByAddress } from './routes.ts';
import type { Trading } from './trading.ts';
import { createFieldReader } from './validation.ts';

/** What a request ends with; a text goes out as it is, anything else as JSON, null as an empty body. */
interface Answer {
  readonly httpStatus: number;
  readonly body: unknown;
}

export interface GatewayOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly trading: Trading;
  readonly faults: FaultBox;
  readonly controlled: Controlled;
  /** Aborted when the exchange closes: answers that wait are given up. */
  readonly closing: AbortSignal;
}

const maximumBodyBytes = 65_536;

/**
 * Takes one HTTP request to its answer: control routes apart, it is held against the rate limit, the faults that
 * are set, the key, signature and nonce, and then served.
 */
export function createGateway(options: GatewayOptions) {
  const { dialect, clock, trading, faults, closing } = options;
  const routes = routesByAddress(dialect);
  const windows = new Map(
    [...routes.values()].map(({ endpoint }) => [endpoint.name, createRateWindow(endpoint.requestsPer10s)]),
  );
  const checkAccess = createAccessCheck();

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const address = `${request.method} ${path}`;
    if (body === null) return send(response, { httpStatus: 413, body: null });
    if (path.startsWith('/control/')) return control(response, address, body);
    const route = routes.get(address);
    if (route === undefined) return send(response, { httpStatus: 404, body: null });
    if (!windows.get(route.endpoint.name)?.(clock.nowMs()))
      return send(response, { httpStatus: 429, body: rateLimitBody });
    const strike = faults.strike(route.endpoint);
    if (strike?.when === 'before') return spoil(response, strike);
    const answer = await serve(route, request, body, path);
    if (strike === null) send(response, answer);
    else await spoil(response, strike, answer);
  };

  async function control(response: ServerResponse, address: string, body: Buffer): Promise<void> {
    const { afterAnswer, ...answer } = await serveControl(options.controlled, address, body.toString('utf8'));
    if (afterAnswer !== undefined) response.once('finish', afterAnswer);
    send(response, answer);
  }

  async function serve(route: Route, request: IncomingMessage, raw: Buffer, path: string): Promise<Answer> {
    const { endpoint, trades } = route;
    const atMs = clock.nowMs();
    const access =
      endpoint.access === 'public'
        ? { allowed: true as const, account: '', body: {} }
        : checkAccess({ headers: request.headers, path, body: raw, atMs, trades });
    if (!access.allowed) return refuse([{ name: access.refusal }]);
    const read = createFieldReader(dialect, endpoint, access.body);
    const visit = { account: access.account, read, dialect: spokenDialect(dialect, endpoint), atMs, trading };
    const reply = route.serve(visit);
    if (!reply.ok) return refuse(reply.refusals);
    await reply.stored;
    return { httpStatus: 200, body: toWire(dialect, endpoint, reply.result) };
  }

  async function spoil(
    response: ServerResponse,
    { effect, delayMs }: Strike,
    answer?: Answer,
  ): Promise<void> {
    if (effect.kind === 'answer') return send(response, effect);
    if (effect.kind === 'delay' && answer !== undefined) {
      await sleep(delayMs, undefined, { signal: closing });
      return send(response, answer);
    }
    response.destroy();
  }
}

function refuse(refusals: readonly [Refusal, ...Refusal[]]): Answer {
  return answerRefusals(refusals);
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Read to its end all the same: an answer sent half-way would be lost with the connection.
    if (bytes <= maximumBodyBytes) chunks.push(chunk);
  }
  return bytes > maximumBodyBytes ? null : Buffer.concat(chunks);
}

function send(response: ServerResponse, { httpStatus, body }: Answer): void {
  const isText = typeof body === 'string';
  const bytes = Buffer.from(body === null ? '' : isText ? body : JSON.stringify(body));
  const type = isText
    ? { 'content-type': 'text/html; charset=utf-8' }
    : { 'content-type': 'application/json' };
  response.writeHead(httpStatus, { ...(body === null ? {} : type), 'content-length': bytes.length });
  response.end(bytes);
}
