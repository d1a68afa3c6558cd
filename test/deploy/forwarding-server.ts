import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A server of this machine that hands requests on, and gives their responses back. */
export interface ForwardingServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Where a request goes, and with which headers. */
export interface Onward {
  readonly url: string;
  readonly headers: NonNullable<RequestOptions['headers']>;
}

export async function startForwardingServer(
  sendOn: (asked: IncomingMessage) => Onward,
): Promise<ForwardingServer> {
  async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { url, headers } = sendOn(asked);
    const sent = request(url, { method: asked.method, headers });
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
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
