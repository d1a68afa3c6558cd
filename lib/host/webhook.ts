import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describeSafely } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import { receiveSignal } from '../relay/receive-signal.ts';
import type { ReceiveServices } from '../relay/services.ts';

/** The response to a request, before it becomes an HTTP response. */
export interface WebhookResponse {
  readonly httpStatus: number;
  readonly body: Json;
}

/** Handles one request; of HTTP it knows only the status of its response. */
export type HandleWebhook = (event: APIGatewayProxyEvent, body: Buffer) => Promise<WebhookResponse>;

export type WebhookHandler = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/**
 * The handler of `POST /signals/{account}/{token}`: receives alerts.
 *
 * @param responseTimeoutMs see `createWebhook`
 */
export function createReceiveSignal(services: ReceiveServices, responseTimeoutMs?: number): WebhookHandler {
  const receive: HandleWebhook = ({ pathParameters }, body) =>
    receiveSignal(services, {
      account: pathParameters?.['account'] ?? '',
      token: pathParameters?.['token'] ?? '',
      body,
    });
  return createWebhook(services.log, receive, responseTimeoutMs);
}

/**
 * Creates a Lambda handler for API Gateway: it takes POST only, passes on the raw bytes, and responds in
 * JSON. The error catalogue defines the response to each error.
 *
 * @param responseTimeoutMs after this time the response is
 * 503, though the handler continues; absent: no limit
 */
export function createWebhook(log: Log, handle: HandleWebhook, responseTimeoutMs?: number): WebhookHandler {
  const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .before(allowPostOnly)
    .onError(respondWithError(log))
    .handler(async (event) => responseOf(await inTime(handle(event, rawBodyOf(event)), responseTimeoutMs)));
  // middy requires Lambda's context, but nothing here uses it.
  return (event) => handler(event, {} as Parameters<typeof handler>[1]);
}

function allowPostOnly({ event }: { event: APIGatewayProxyEvent }): void {
  if (event.httpMethod !== 'POST')
    throw new RelayError(
      'method_not_allowed',
      `${event.httpMethod} is not supported here; send the alert with POST`,
    );
}

/** The bytes as they were sent, whatever content type and encoding the sender names. */
function rawBodyOf(event: APIGatewayProxyEvent): Buffer {
  return Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
}

/** A handler may safely continue after its time is up: a resend finds what it stored. */
async function inTime<T>(handle: Promise<T>, timeoutMs: number | undefined): Promise<T> {
  if (timeoutMs === undefined) return await handle;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new RelayError('store_unavailable', `handling took longer than ${timeoutMs} ms`));
  }, timeoutMs);
  return await Promise.race([handle, promise]).finally(() => clearTimeout(timer));
}

function responseOf(
  { httpStatus, body }: WebhookResponse,
  headers: Record<string, string> = {},
): APIGatewayProxyResult {
  return {
    statusCode: httpStatus,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

function respondWithError(log: Log) {
  return (request: { error?: Error | null | undefined; response?: unknown }): void => {
    const error = toRelayError(request.error ?? null);
    const { row, code, message } = error;
    // The logger reserves the field name "message".
    log[row.logLevel]('request refused', { code, reason: message, httpStatus: row.httpStatus });
    request.response = responseOf(
      {
        httpStatus: row.httpStatus,
        body: { error: { code, message, issues: issuesOf(error) } },
      },
      headersOf(error),
    );
  };
}

function headersOf({ code, row }: RelayError): Record<string, string> {
  return {
    ...(code === 'method_not_allowed' ? { allow: 'POST' } : {}),
    ...(row.retryAfterSeconds === undefined ? {} : { 'retry-after': String(row.retryAfterSeconds) }),
  };
}

/** Without a specific issue, the response gives the catalogue's advice. */
function issuesOf({ issues, message, row }: RelayError): Json {
  const named = issues.length > 0 ? issues : [{ path: '', message, hint: row.action }];
  return named.map(({ path, message: text, hint }) => ({ path, message: text, hint }));
}

/** An unexpected error becomes `not_stored`: a resend stores whatever is missing. */
function toRelayError(error: Error | null): RelayError {
  // A response with Retry-After keeps its own code and reason.
  if (
    error instanceof RelayError &&
    (error.row.httpStatus < 500 || error.row.retryAfterSeconds !== undefined)
  )
    return error;
  const message = `the alert was not completely stored and queued (${describeSafely(error)}): send the same bytes again`;
  return new RelayError('not_stored', message, { cause: error });
}
