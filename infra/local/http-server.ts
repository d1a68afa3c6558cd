import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { RelayError } from '../../lib/base/errors.ts';
import type { WebhookHandler } from '../../lib/host/webhook.ts';

/** API Gateway's part in a local run: one route, turned into the event a function expects. */
export interface HttpServer {
  readonly url: string;
  /** Stops listening and waits for what is being answered. */
  close(): Promise<void>;
}

/** A body beyond this is not read to its end; the function behind draws the real line, far below. */
const maximumBodyBytes = 1024 * 1024;
const route = /^\/signals\/([^/?]+)\/([^/?]+)(?:\?.*)?$/;

/** @throws the operating system's error when the port is taken */
export async function startHttpServer(port: number, receiveSignal: WebhookHandler): Promise<HttpServer> {
  const server = createServer((request, response) => {
    answer(request, receiveSignal)
      .then((result) => send(response, result))
      // The sender hung up, or sent no HTTP; there is nobody left to answer.
      .catch(() => request.destroy());
  });
  // A sender that stalls in the middle holds a connection, not the relay.
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  await listen(server, port);
  const { port: boundPort } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${boundPort}`, close: () => close(server) };
}

async function answer(
  request: IncomingMessage,
  receiveSignal: WebhookHandler,
): Promise<APIGatewayProxyResult> {
  const [, account, token] = route.exec(request.url ?? '') ?? [];
  if (account === undefined || token === undefined)
    return plainAnswer(new RelayError('not_found', 'there is nothing here'));
  const body = await readBody(request);
  if (body === null) return plainAnswer(new RelayError('body_too_large', 'the request is larger than 1 MiB'));
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

function plainAnswer({ row, code, message }: RelayError): APIGatewayProxyResult {
  const issues = [{ path: '', message, hint: row.action }];
  return {
    statusCode: row.httpStatus,
    headers: { 'content-type': 'application/json; charset=utf-8' },
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
