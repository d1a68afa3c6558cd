import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { RelayError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import {
  checkMethod,
  createRefusal,
  createResponse,
  type HandleWebhook,
  type WebhookRequest,
} from './plain-webhook.ts';

export type WebhookHandler = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

/**
 * Creates a Lambda handler for API Gateway: it takes POST only, passes on the raw bytes, and responds in
 * JSON. The error catalogue defines the response to each error.
 *
 * @param responseTimeoutMs after this time the response is
 * 503, though the handler continues; absent: no limit
 */
export function createWebhook(log: Log, handle: HandleWebhook, responseTimeoutMs?: number): WebhookHandler {
  const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .before(({ event }) => checkMethod(event.httpMethod))
    .onError((failed) => {
      failed.response = createRefusal(log, failed.error);
    })
    .handler(async (event) => createResponse(await inTime(handle(requestOf(event)), responseTimeoutMs)));
  // middy requires Lambda's context, but nothing here uses it.
  return (event) => handler(event, {} as Parameters<typeof handler>[1]);
}

/** The body has the bytes as they were sent, whatever content type and encoding the sender names. */
function requestOf({
  httpMethod,
  pathParameters,
  body,
  isBase64Encoded,
}: APIGatewayProxyEvent): WebhookRequest {
  return {
    method: httpMethod,
    account: pathParameters?.['account'] ?? '',
    token: pathParameters?.['token'] ?? '',
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
  };
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
