import { describeSafely } from '../base/describe-error.ts';
import { RelayError } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import type { Log } from '../base/log.ts';

/** One request to the webhook: its method, the decoded segments of its path, and the bytes as they were sent. */
export interface WebhookRequest {
  readonly method: string;
  readonly account: string;
  readonly token: string;
  readonly body: Buffer;
  /** How many more bytes were sent than `body` has; absent: none. */
  readonly omittedBytes?: number;
}

/** The response to a request, before it becomes an HTTP response. */
export interface WebhookResponse {
  readonly httpStatus: number;
  readonly body: Json;
}

/** An HTTP response, ready to be sent. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Handles one request; of HTTP it knows only the status of its response. */
export type HandleWebhook = (request: WebhookRequest) => Promise<WebhookResponse>;

/** Handles one request. Every error becomes a response. */
export type PlainWebhook = (request: WebhookRequest) => Promise<HttpResponse>;

/**
 * Creates a handler that takes POST only and responds in JSON. The error catalogue defines the response to each
 * error. The handler for Lambda is made of the same parts.
 */
export function createPlainWebhook(log: Log, handle: HandleWebhook): PlainWebhook {
  return async (request) => {
    try {
      checkMethod(request.method);
      return createResponse(await handle(request));
    } catch (error) {
      return createRefusal(log, error);
    }
  };
}

/** @throws RelayError `method_not_allowed` for any method but POST */
export function checkMethod(method: string): void {
  if (method !== 'POST')
    throw new RelayError('method_not_allowed', `${method} is not supported here; send the alert with POST`);
}

export function createResponse(
  { httpStatus, body }: WebhookResponse,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return {
    statusCode: httpStatus,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** Logs the error and creates its response. */
export function createRefusal(log: Log, cause: unknown): HttpResponse {
  const error = toRelayError(cause);
  const { row, code, message } = error;
  // The logger reserves the field name "message".
  log[row.logLevel]('request refused', { code, reason: message, httpStatus: row.httpStatus });
  return createResponse(
    { httpStatus: row.httpStatus, body: { error: { code, message, issues: issuesOf(error) } } },
    headersOf(error),
  );
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
function toRelayError(error: unknown): RelayError {
  // A response with Retry-After keeps its own code and reason.
  if (
    error instanceof RelayError &&
    (error.row.httpStatus < 500 || error.row.retryAfterSeconds !== undefined)
  )
    return error;
  const message = `the alert was not completely stored and queued (${describeSafely(error)}): send the same bytes again`;
  return new RelayError('not_stored', message, { cause: error });
}
