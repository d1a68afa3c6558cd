import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { readJson } from '../../base/json.ts';
import { readBody } from '../../base/read-body.ts';
import type { Dialect } from '../../exchange/dialect.ts';
import type { FaultBox, Strike } from '../faults/faults.ts';
import { changeList } from '../faults/odd-lists.ts';
import { contradict, echoHeaders } from '../faults/spoilt-responses.ts';
import type { Controlled } from './control.ts';
import { serveControl } from './control-routes.ts';
import {
  encodeResponse,
  type PaperCore,
  type PaperResponse,
  tooLargeResponse,
  withoutQuery,
} from './exchange.ts';

export interface GatewayOptions {
  readonly dialect: Dialect;
  readonly core: PaperCore;
  readonly clock: Clock;
  readonly faults: FaultBox;
  readonly controlled: Controlled;
  /** Aborted when the exchange closes. Delayed responses are then not sent. */
  readonly closing: AbortSignal;
}

const maximumBodyBytes = 65_536;

/**
 * Handles one HTTP request. Control routes are served directly. For any other request the exchange checks
 * route and rate limit, an injected fault may affect it, and the exchange serves it.
 */
export function createGateway({ dialect, core, clock, faults, controlled, closing }: GatewayOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request, maximumBodyBytes);
    const { method = '', url: target = '/', headers } = request;
    if (body === null) return send(response, tooLargeResponse(dialect, target));
    const path = withoutQuery(target);
    if (path.startsWith('/control/')) return control(response, `${method} ${path}`, body);
    const admission = core.admit({ method, target, headers, body, atMs: clock.nowMs() });
    if (!admission.admitted) return send(response, admission.response);
    const strike = faults.strike(admission.endpoint, readFields(body));
    if (strike?.when === 'before') return spoil(response, strike);
    if (strike?.when === 'during')
      return send(
        response,
        await admission.serve({ lagMs: strike.delayMs, showsTpsl: strike.effect.kind === 'show_tpsl' }),
      );
    const paperResponse = await admission.serve();
    if (strike === null) send(response, paperResponse);
    else if (strike.effect.kind === 'contradict')
      send(response, { ...paperResponse, body: contradict(paperResponse.body) });
    else if (strike.effect.kind === 'odd_list')
      send(response, { ...paperResponse, body: changeList(strike.effect.oddity, paperResponse.body) });
    else if (strike.effect.kind === 'echo')
      send(response, { ...paperResponse, body: echoHeaders(paperResponse.body, headers) });
    else if (strike.effect.kind === 'surplus') {
      response.socket?.write(rawResponse(strike.effect));
      send(response, paperResponse);
    } else await spoil(response, strike, paperResponse);
  };

  async function control(response: ServerResponse, address: string, body: Buffer): Promise<void> {
    const { afterResponse, ...paperResponse } = await serveControl(
      controlled,
      address,
      body.toString('utf8'),
    );
    if (afterResponse !== undefined) response.once('finish', afterResponse);
    send(response, paperResponse);
  }

  async function spoil(
    response: ServerResponse,
    { effect, delayMs }: Strike,
    paperResponse?: PaperResponse,
  ): Promise<void> {
    if (effect.kind === 'respond') return send(response, effect);
    if (effect.kind === 'delay' && paperResponse !== undefined) {
      await sleep(delayMs, undefined, { signal: closing });
      return send(response, paperResponse);
    }
    response.destroy();
  }
}

/** The fields of a request; none if it is no JSON object. */
function readFields(body: Buffer): Readonly<Record<string, unknown>> {
  const value = readJson(body.toString('utf8'));
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The bytes of a response that the HTTP server knows nothing of. */
function rawResponse({ httpStatus, body }: { readonly httpStatus: number; readonly body: unknown }): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${httpStatus} Surplus\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function send(response: ServerResponse, paperResponse: PaperResponse): void {
  const { status, body } = encodeResponse(paperResponse);
  const bytes = Buffer.from(body);
  const type = typeof paperResponse.body === 'string' ? 'text/html; charset=utf-8' : 'application/json';
  response.writeHead(status, {
    ...(paperResponse.body === null ? {} : { 'content-type': type }),
    'content-length': bytes.length,
  });
  response.end(bytes);
}
