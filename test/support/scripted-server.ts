import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a scripted server does with one request: a plain response, or anything else by hand. */
export type ScriptStep =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | ((response: ServerResponse) => void);

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real server on loopback that does what it is told, request by request, and keeps what it saw. */
export interface ScriptedServer {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  connectionCount(): number;
  /** Resolves once that many requests have arrived whole. */
  untilSeen(count: number): Promise<void>;
  close(): Promise<void>;
}

/** The default is plain HTTP; any server of node:https does as well. */
export async function startScriptedServer(
  steps: readonly ScriptStep[],
  server: Server = createServer(),
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  let connectionCount = 0;
  server.on('connection', () => {
    connectionCount += 1;
  });
  server.on('request', async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const step = steps[seen.length] ?? { status: 599, body: 'the script is over' };
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    if (typeof step === 'function') step(response);
    else response.writeHead(step.status, step.headers).end(step.body);
    server.emit('seen');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    connectionCount: () => connectionCount,
    async untilSeen(count) {
      while (seen.length < count) await once(server, 'seen');
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
