import type { Transport } from '../base/wire.ts';

/** A request as an SDK client of AWS hands it over, signed. */
interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

interface SdkResponse {
  readonly response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  };
}

/** The headers that the clients read: of the failure, the request and the server's clock. */
const wantedHeaders = ['content-type', 'date', 'x-amzn-errortype', 'x-amzn-requestid', 'retry-after'];

/**
 * Sends the requests of an SDK client of AWS over the relay's own transport, in place of `@smithy/node-http-handler`.
 *
 * @param times of each attempt, from its start until the connection is made, and until the whole response has arrived
 */
export function createSdkRequestHandler(
  transport: Transport,
  times: { readonly connectTimeoutMs: number; readonly timeoutMs: number },
) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: SdkRequest): Promise<SdkResponse> {
      const { protocol, hostname, port, method, path, headers, body } = request;
      // The transport adds them.
      const { host: _host, 'content-length': _length, ...sent } = headers;
      const outcome = await transport.send({
        ...times,
        baseUrl: `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`,
        method,
        path,
        headers: sent,
        body: body === undefined ? null : textOf(body),
        wantedHeaders,
      });
      if (outcome.kind === 'answered')
        return {
          response: {
            statusCode: outcome.status,
            headers: outcome.headers ?? {},
            body: Buffer.from(outcome.body),
          },
        };
      // By this name, the client knows that another attempt may help.
      throw Object.assign(new Error(outcome.reason), { name: 'TimeoutError' });
    },
    destroy() {},
  };
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}
