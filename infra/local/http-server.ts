import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { RelayError } from '../../lib/base/errors.ts';
import { readBodyStart } from '../../lib/base/read-body.ts';
import type { HttpResponse, PlainWebhook } from '../../lib/host/plain-webhook.ts';
import type { Stray } from './stray-alerts.ts';

/** The local counterpart of API Gateway: serves the webhook's route. */
export interface HttpServer {
  readonly url: string;
  /** Stops listening and waits for the requests in progress. */
  close(): Promise<void>;
}

/** What comes after this is only counted. The webhook's own limit is far lower, and it records what it refuses. */
const keptBodyBytes = 1024 * 1024;
const jsonType = 'application/json; charset=utf-8';
const route = /^\/signals\/([^/]+)\/([^/]+)$/;
/** What was meant as the path of an alert. */
const nearRoute = /^\/signals?(?:\/|$)/i;

/** How long a sender may take for headers and body together. */
const defaultReceiveWithinMs = 10_000;

export interface HttpServerOptions {
  /** The address to listen on; absent: 127.0.0.1. */
  readonly host?: string;
  readonly receiveWithinMs?: number;
  /** What GET and HEAD of a path respond; anybody may ask. */
  readonly answers?: Readonly<Record<string, () => Promise<HttpResponse>>>;
  /** Called for a POST that was meant as an alert, and that no function gets. */
  readonly tellStray?: (why: Stray) => void;
  /** The response to a sender that may not post an alert; null for one that may. Absent: everybody may. */
  readonly admit?: (request: IncomingMessage) => HttpResponse | null;
}

/** @throws the operating system's error when the port is taken */
export async function startHttpServer(
  port: number,
  receiveSignal: PlainWebhook,
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const { host = '127.0.0.1', receiveWithinMs = defaultReceiveWithinMs } = options;
  const latest = new WeakMap<Duplex, ServerResponse>();
  const server = createServer(limitReceiving(receiveWithinMs), (request, response) => {
    latest.set(request.socket, response);
    respond(request, receiveSignal, options)
      .then((result) => send(response, result))
      // The sender closed the connection or did not send HTTP, so no response is possible.
      .catch(() => request.destroy());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = latest.get(socket);
    // A request before the broken one may be stored by now: its sender must not take a 400 for its response.
    if (response !== undefined && isUnderWay(response)) response.shouldKeepAlive = false;
    else refuseBroken(socket, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? receiveWithinMs : null);
  });
  await listen(server, port, host);
  const { port: boundPort } = server.address() as AddressInfo;
  return { url: `http://${reachableHost(host)}:${boundPort}`, close: () => close(server) };
}

/** Where this machine reaches a server that listens on an address. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

async function respond(
  request: IncomingMessage,
  receiveSignal: PlainWebhook,
  { answers = {}, admit, tellStray }: HttpServerOptions,
): Promise<HttpResponse> {
  const { method, url = '' } = request;
  const [path = ''] = url.split('?');
  const answer = method === 'GET' || method === 'HEAD' ? findAnswer(answers, path) : undefined;
  if (answer !== undefined) return await answer();
  return admit?.(request) ?? (await handle(request, receiveSignal, tellStray));
}

function findAnswer<T>(answers: Readonly<Record<string, T>>, path: string): T | undefined {
  return Object.hasOwn(answers, path) ? answers[path] : undefined;
}

/** Whether a request that arrived completely still waits for its response: this one, or an earlier one of the connection. */
function isUnderWay({ req, socket, writableFinished }: ServerResponse): boolean {
  return !writableFinished && (req.complete || socket === null);
}

/** A sender that stalls occupies one connection for this long, and never blocks the relay. */
function limitReceiving(receiveWithinMs: number): ServerOptions {
  // Node checks its connections at this interval; its default is twice a minute.
  const connectionsCheckingInterval = Math.ceil(receiveWithinMs / 10);
  const requestTimeout = receiveWithinMs - connectionsCheckingInterval;
  return { connectionsCheckingInterval, requestTimeout, headersTimeout: requestTimeout };
}

/**
 * @param timedOutMs the time limit that an incomplete request exceeded; null for a request that is not HTTP
 */
function refuseBroken(socket: Duplex, timedOutMs: number | null): void {
  if (socket.writable) {
    const [status, body] =
      timedOutMs === null
        ? ['400 Bad Request', '']
        : ['408 Request Timeout', plainResponse(createTimeout(timedOutMs)).body];
    socket.write(
      `HTTP/1.1 ${status}\r\ncontent-type: ${jsonType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroy();
}

function createTimeout(receiveWithinMs: number): RelayError {
  return new RelayError('request_timeout', `the request was not complete after ${receiveWithinMs / 1000} s`);
}

async function handle(
  request: IncomingMessage,
  receiveSignal: PlainWebhook,
  tellStray: HttpServerOptions['tellStray'],
): Promise<HttpResponse> {
  const { method = '', url = '' } = request;
  const path = tidyPath(url);
  const [, account, token] = route.exec(path) ?? [];
  if (account === undefined || token === undefined) {
    if (method === 'POST' && nearRoute.test(path)) tellStray?.('other_path');
    return plainResponse(new RelayError('not_found', 'this path does not exist'));
  }
  const { start: body, omittedBytes } = await readBodyStart(request, keptBodyBytes).catch(
    (error: unknown) => {
      tellStray?.('cut_off');
      throw error;
    },
  );
  return await receiveSignal({
    method,
    account: decode(account),
    token: decode(token),
    body,
    omittedBytes,
  });
}

/** Without the query, and without the slashes that slip in where a URL is put together by hand. */
function tidyPath(url: string): string {
  const [path = ''] = url.split('?');
  return path.replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
}

/** A segment that cannot be decoded stays as it is: it matches no account and no token. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function plainResponse({ row, code, message }: RelayError): HttpResponse {
  const issues = [{ path: '', message, hint: row.action }];
  return {
    statusCode: row.httpStatus,
    headers: { 'content-type': jsonType },
    body: JSON.stringify({ error: { code, message, issues } }),
  };
}

/** With its length known, the response is one write instead of three chunks. */
function send(response: ServerResponse, { statusCode, headers, body }: HttpResponse): void {
  response.writeHead(statusCode, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * Requests in progress may take this long when the server closes: a stalled sender must not block the
 * shutdown.
 */
const closingGraceMs = 3_000;

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cutting = setTimeout(() => server.closeAllConnections(), closingGraceMs);
    server.close(() => {
      clearTimeout(cutting);
      resolve();
    });
    server.closeIdleConnections();
  });
}
