import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { readJson } from '../../lib/base/json.ts';
import { CommandFailure } from '../failure.ts';
import { isSystemError } from '../system-error.ts';

export interface HttpRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly body?: Uint8Array | string;
  /** The server's name in messages, because the URL may contain a token. */
  readonly recipient: string;
  /** The command that starts the server, as a person types it. */
  readonly start: string;
}

export interface LocalResponse {
  readonly httpStatus: number;
  /** Parsed JSON; undefined when the body is not JSON. */
  readonly body: unknown;
}

const timeoutMs = 10_000;

/**
 * Sends a request to a server of the local run.
 *
 * @throws CommandFailure `not_running` when the connection is refused, `no_answer` when no response arrived
 */
export async function askHttp({ url, method, body, recipient, start }: HttpRequest): Promise<LocalResponse> {
  try {
    const sent = request(url, { method, agent: false, signal: AbortSignal.timeout(timeoutMs) });
    sent.end(body);
    const [response] = await once(sent, 'response');
    return { httpStatus: response.statusCode, body: readJson(await text(response)) };
  } catch (error) {
    throw isRefused(error) ? createNotRunning(recipient, start) : createNoResponse(recipient);
  }
}

/** Whether a server accepts connections at the address of the URL. */
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

/** @param start the command that starts it */
export function createNotRunning(recipient: string, start: string): CommandFailure {
  return new CommandFailure('not_running', `${recipient} is not running`, `Start it with \`${start}\`.`);
}

function createNoResponse(recipient: string): CommandFailure {
  return new CommandFailure(
    'no_answer',
    `${recipient} accepted the connection, but its response was lost or took more than ${timeoutMs / 1000} s`,
    'The command may have taken effect: check with `signals` or `paper state` before you repeat it.',
  );
}

function isRefused(error: unknown): boolean {
  return isSystemError(error) && error.code === 'ECONNREFUSED';
}
