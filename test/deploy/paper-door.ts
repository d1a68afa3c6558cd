import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** An address of this machine in place of the URL of a function, which the emulator has under a path of its own. */
export interface PaperDoor {
  readonly url: string;
  /** @param target the function's address at the emulator, without a slash at the end */
  leadTo(target: string): void;
  close(): Promise<void>;
}

export async function openPaperDoor(): Promise<PaperDoor> {
  let target = '';

  async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url, headers } = asked;
    const sent = request(`${target}${url}`, { method, headers: { ...headers, host: new URL(target).host } });
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    leadTo(address) {
      target = address;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
