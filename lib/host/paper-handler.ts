import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import { encodeResponse, type PaperRequest, type PaperResponse } from '../paper/server/exchange.ts';

export type PaperHandler = (event: APIGatewayProxyEventV2) => Promise<APIGatewayProxyStructuredResultV2>;

export interface PaperHandlerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Opens the exchange; called once, and again after it failed. */
  open(): Promise<(request: PaperRequest) => Promise<PaperResponse>>;
}

/**
 * Creates a Lambda handler for a function URL: the paper exchange over HTTP. It has no controls and no faults.
 *
 * What it cannot store it does not confirm: it throws, and Lambda responds 502.
 */
export function createPaperHandler({ clock, log, open }: PaperHandlerOptions): PaperHandler {
  let opened: ReturnType<PaperHandlerOptions['open']> | null = null;

  return async (event) => {
    try {
      opened ??= open();
      const handle = await opened.catch((error: unknown) => {
        opened = null;
        throw error;
      });
      const { status, body } = encodeResponse(await handle(requestOf(event, clock.nowMs())));
      return { statusCode: status, headers: { 'content-type': 'application/json' }, body };
    } catch (error) {
      log.error('the paper exchange could not respond', { reason: describeError(error) });
      throw error;
    }
  };
}

/** The body has the bytes as they were sent: the signature is over them. */
function requestOf(event: APIGatewayProxyEventV2, atMs: number): PaperRequest {
  const { rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded } = event;
  return {
    method: requestContext.http.method,
    target: rawQueryString === '' ? rawPath : `${rawPath}?${rawQueryString}`,
    headers,
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
    atMs,
  };
}
