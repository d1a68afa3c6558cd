import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { RelayError } from '../../lib/base/errors.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';
import type { HealthHandler } from './health.ts';

/** API Gateway's part in a local run: the webhook's route, turned into the event a function expects. */
export interface HttpServer {
  readonly url: string;
  /** Stops listening and waits for what is being answered. */
  close(): Promise<void>;
}

/** A body beyond this is not read to its end; the function behind draws the real line, far below. */
const maximumBodyBytes = 1024 * 1024;
const jsonType = 'application/json; charset=utf-8';
const route = /^\/signals\/([^/?]+)\/([^/?]+)(?:\?.*)?$/;

/** So long a sender may take for headers and body together. */
const defaultReceiveWithinMs = 10_000;

/** @throws the operating system's error when the port is taken */
export async function startHttpServer(
  port: number,
  receiveSignal: WebhookHandler,
  options: { readonly receiveWithinMs?: number; readonly logHealth?: HealthHandler } = {},
): Promise<HttpServer> {
  const { receiveWithinMs = defaultReceiveWithinMs, logHealth } = options;
  const server = createServer(limitReceiving(receiveWithinMs), (request, response) => {
    (logHealth !== undefined && asksForHealth(request) ? logHealth() : answer(request, receiveSignal))
      .then((result) => send(response, result))
      // The sender hung up, or sent no HTTP; there is nobody left to answer.
      .catch(() => request.destroy());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuseBroken(socket, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? receiveWithinMs : null);
  });
  await listen(server, port);
  const { port: boundPort } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${boundPort}`, close: () => close(server) };
}

function asksForHealth({ method, url }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/health(?:\?.*)?$/.test(url ?? '');
}

/** A sender that stalls holds a connection for this long, and never the relay. */
function limitReceiving(receiveWithinMs: number): ServerOptions {
  // Node looks at its connections now and then, by itself only twice a minute.
  const connectionsCheckingInterval = Math.ceil(receiveWithinMs / 10);
  const requestTimeout = receiveWithinMs - connectionsCheckingInterval;
  return { connectionsCheckingInterval, requestTimeout, headersTimeout: requestTimeout };
}

/** @param timedOutMs how long the sender took for a request that is not complete; null when it is none at all */
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

async function answer(
  request: IncomingMessage,
  receiveSignal: WebhookHandler,
): Promise<APIGatewayProxyResult> {
  const [, account, token] = route.exec(request.url ?? '') ?? [];
  if (account === undefined || token === undefined)
    return plainResponse(new RelayError('not_found', 'there is nothing here'));
  const body = await readBody(request);
  if (body === null)
    return plainResponse(new RelayError('body_too_large', 'the request is larger than 1 MiB'));
  return await receiveSignal(toEvent(request, { account: decode(account), token: decode(token) }, body));
}

/** Reads the whole body; null when it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size <= maximumBodyBytes) chunks.push(chunk);
  }
  return size > maximumBodyBytes ? null : Buffer.concat(chunks);
}

/** A segment that cannot be decoded is no account and no token, and is answered as such. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The parts of API Gateway's event that the function reads; the body as binary media types arrive there. */
function toEvent(
  request: IncomingMessage,
  pathParameters: Record<string, string>,
  body: Buffer,
): APIGatewayProxyEvent {
  return {
    httpMethod: request.method ?? '',
    path: '/signals/{account}/{token}',
    resource: '/signals/{account}/{token}',
    pathParameters,
    body: body.toString('base64'),
    isBase64Encoded: true,
    headers: {},
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    stageVariables: null,
    requestContext: {} as APIGatewayProxyEvent['requestContext'],
  };
}

function plainResponse({ row, code, message }: RelayError): APIGatewayProxyResult {
  const issues = [{ path: '', message, hint: row.action }];
  return {
    statusCode: row.httpStatus,
    headers: { 'content-type': jsonType },
    body: JSON.stringify({ error: { code, message, issues } }),
  };
}

function send(response: ServerResponse, { statusCode, headers, body }: APIGatewayProxyResult): void {
  response.writeHead(statusCode, headers as Record<string, string>).end(body);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** What is being answered gets this long to end; a sender that stalls must not hold the relay up for ever. */
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
