import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What a raw server does with one request: the bytes it writes, or anything else by hand. */
export type RawStep = string | ((socket: Socket) => void);

/** A server on loopback that reads requests and writes bytes, whether they are HTTP or not. */
export interface RawServer {
  readonly listener: Server;
  readonly port: number;
  readonly url: string;
  /** Every connection, in the order of their arrival. */
  readonly sockets: readonly Socket[];
  /** The text of every request. */
  readonly requests: readonly string[];
  /** Resolves once that many requests have arrived whole. */
  untilSeen(count: number): Promise<void>;
  close(): Promise<void>;
}

const contentLength = /\r\ncontent-length: (\d+)\r\n/i;

/** @param server a server of node:tls emits its connections as `secureConnection` */
export async function startRawServer(
  steps: readonly RawStep[],
  server: Server = createServer(),
  connectionEvent: 'connection' | 'secureConnection' = 'connection',
  host = '127.0.0.1',
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const requests: string[] = [];
  server.on(connectionEvent, (socket: Socket) => {
    let unread = '';
    sockets.push(socket);
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        unread += bytes.toString('latin1');
        for (let end = endOfRequest(unread); end > 0; end = endOfRequest(unread)) {
          const step = steps[requests.length] ?? '';
          requests.push(unread.slice(0, end));
          unread = unread.slice(end);
          if (typeof step === 'string') socket.write(step, 'latin1');
          else step(socket);
          server.emit('seen');
        }
      });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    listener: server,
    port,
    url: `http://127.0.0.1:${port}`,
    sockets,
    requests,
    async untilSeen(count) {
      while (requests.length < count) await once(server, 'seen');
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** The length of the first request; 0 while it has not arrived completely. */
function endOfRequest(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  if (headEnd < 4) return 0;
  const end = headEnd + Number(contentLength.exec(text.slice(0, headEnd))?.[1] ?? 0);
  return end <= text.length ? end : 0;
}

/** Resolves once the connection is closed in both directions. */
export async function untilClosed(socket: Socket | undefined): Promise<void> {
  if (socket !== undefined && !socket.closed) await once(socket, 'close');
}
