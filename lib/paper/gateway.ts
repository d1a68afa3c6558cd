import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Dialect } from '../exchange/dialect.ts';
import { type Controlled, serveControl } from './control.ts';
import { encodeResponse, type PaperCore, type PaperResponse, pathOf, tooLargeResponse } from './exchange.ts';
import type { FaultBox, Strike } from './faults.ts';
import { contradict, echoHeaders } from './spoilt-responses.ts';

export interface GatewayOptions {
  readonly dialect: Dialect;
  readonly core: PaperCore;
  readonly clock: Clock;
  readonly faults: FaultBox;
  readonly controlled: Controlled;
  /** Aborted when the exchange closes: answers that wait are given up. */
  readonly closing: AbortSignal;
}

const maximumBodyBytes = 65_536;

/**
 * Takes one HTTP request to its answer: control routes apart, the exchange admits it, the faults that are set may
 * strike it, and the exchange serves it.
 */
export function createGateway({ dialect, core, clock, faults, controlled, closing }: GatewayOptions) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request);
    const { method = '', url: target = '/', headers } = request;
    if (body === null) return send(response, tooLargeResponse(dialect, target));
    const path = pathOf(target);
    if (path.startsWith('/control/')) return control(response, `${method} ${path}`, body);
    const admission = core.admit({ method, target, headers, body, atMs: clock.nowMs() });
    if (!admission.admitted) return send(response, admission.response);
    const strike = faults.strike(admission.endpoint);
    if (strike?.when === 'before') return spoil(response, strike);
    if (strike?.when === 'during') return send(response, await admission.serve(strike.delayMs));
    const answer = await admission.serve();
    if (strike === null) send(response, answer);
    else if (strike.effect.kind === 'contradict')
      send(response, { ...answer, body: contradict(answer.body) });
    else if (strike.effect.kind === 'echo')
      send(response, { ...answer, body: echoHeaders(answer.body, headers) });
    else await spoil(response, strike, answer);
  };

  async function control(response: ServerResponse, address: string, body: Buffer): Promise<void> {
    const { afterResponse, ...answer } = await serveControl(controlled, address, body.toString('utf8'));
    if (afterResponse !== undefined) response.once('finish', afterResponse);
    send(response, answer);
  }

  async function spoil(
    response: ServerResponse,
    { effect, delayMs }: Strike,
    answer?: PaperResponse,
  ): Promise<void> {
    if (effect.kind === 'answer') return send(response, effect);
    if (effect.kind === 'delay' && answer !== undefined) {
      await sleep(delayMs, undefined, { signal: closing });
      return send(response, answer);
    }
    response.destroy();
  }
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

function send(response: ServerResponse, answer: PaperResponse): void {
  const { status, body } = encodeResponse(answer);
  const bytes = Buffer.from(body);
  const type = typeof answer.body === 'string' ? 'text/html; charset=utf-8' : 'application/json';
  response.writeHead(status, {
    ...(answer.body === null ? {} : { 'content-type': type }),
    'content-length': bytes.length,
  });
  response.end(bytes);
}
