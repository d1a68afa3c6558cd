import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port of this machine. */
export async function listenLocally(
  server: Server,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  // Longer than any pause between two turns, so that no idle connection is closed just as it is used again.
  server.keepAliveTimeout = 3_600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
