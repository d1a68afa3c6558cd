import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Stands between a function and AWS, and notes what the function asks for. */
export interface CountingProxy {
  readonly url: string;
  /** The operations since the last reset, in the order in which they came. */
  readonly operations: readonly string[];
  reset(): void;
  close(): Promise<void>;
}

/** @param target scheme, host and port of AWS */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const operations: string[] = [];

  async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url, headers } = asked;
    operations.push(String(headers['x-amz-target']).split('.').at(-1) ?? '');
    // With the same `Host`, which the signature covers.
    const sent = request(new URL(url ?? '/', target), { method, headers });
    sent.end(await buffer(asked));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    answer.writeHead(response.statusCode ?? 0, response.headers).end(await buffer(response));
  }

  const server = createServer((asked, answer) => {
    forward(asked, answer).catch(() => answer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operations,
    reset() {
      operations.length = 0;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
