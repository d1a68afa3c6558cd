import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { readJson } from '../lib/base/json.ts';
import { CommandFailure } from './failure.ts';
import { isSystemError } from './system-error.ts';

export interface HttpRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: Uint8Array | string;
  /** Whom we speak to, for messages: a URL may hold a token. */
  readonly recipient: string;
}

export interface HttpResponse {
  readonly httpStatus: number;
  /** Parsed JSON; undefined when the body is none. */
  readonly body: unknown;
}

const timeoutMs = 10_000;

/**
 * Asks a part of the local run over HTTP.
 *
 * @throws CommandFailure `not_running` when nobody listens, `no_answer` when the response never came
 */
export async function askHttp({ url, method, body, recipient }: HttpRequest): Promise<HttpResponse> {
  try {
    const sent = request(url, { method, agent: false, signal: AbortSignal.timeout(timeoutMs) });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { httpStatus: response.statusCode, body: readJson(await text(response)) };
  } catch (error) {
    throw isRefused(error) ? createNotRunning(recipient) : createNoResponse(recipient);
  }
}

/** Whether anybody takes connections at the address of the URL. */
export function isListening(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const socket = connect({
    host: hostname,
    port: port === '' ? defaultPort : Number(port),
    timeout: timeoutMs,
  });
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('timeout', () => resolve(false));
  }).finally(() => socket.destroy());
}

export function createNotRunning(recipient: string): CommandFailure {
  return new CommandFailure(
    'not_running',
    `${recipient} is not running: nobody listens there`,
    'Start it with `npm start`.',
  );
}

function createNoResponse(recipient: string): CommandFailure {
  return new CommandFailure(
    'no_answer',
    `${recipient} listens, but its response was lost or took more than ${timeoutMs / 1000} s`,
    'It may have done what was asked: look (`signals`, `paper state`) before you repeat it.',
  );
}

function isRefused(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ECONNREFUSED';
}
