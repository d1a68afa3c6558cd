import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface CaddyProcess {
  /** What it logged so far. */
  readonly logged: readonly string[];
  stop(): Promise<void>;
}

/** Ports of this machine that nobody uses. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/**
 * Runs Caddy with the Caddyfile of the project, and resolves when it serves.
 *
 * @throws Error with what it logged when it ends before
 */
export async function startCaddy(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<CaddyProcess> {
  const args = ['run', '--config', 'infra/server/Caddyfile', '--adapter', 'caddyfile'];
  const child = spawn('caddy', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      XDG_DATA_HOME: join(folder, 'caddy-data'),
      XDG_CONFIG_HOME: join(folder, 'caddy-config'),
      ...environment,
    },
  });
  const ended = once(child, 'exit');
  const logged: string[] = [];
  const serving = Promise.withResolvers<void>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    logged.push(line);
    if (line.includes('serving initial configuration')) serving.resolve();
  });
  await Promise.race([
    serving.promise,
    ended.then(() => {
      throw new Error(`caddy ended:\n${logged.join('\n')}`);
    }),
  ]);
  return {
    logged,
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}
