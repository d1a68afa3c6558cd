import { once } from 'node:events';
import { request } from 'node:http';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PageServer } from '../../../cli/dashboard/page-server.ts';
import { startDashboard } from '../../../cli/dashboard/start-dashboard.ts';
import { createProgram } from '../../../cli/program.ts';
import { openLocalSession } from '../../../cli/session/local-session.ts';
import { parseConfig, type RelayConfig, type SnapshotSettings } from '../../../lib/host/config.ts';
import { locateDataFolder, writeRun } from '../../../lib/host/data-folder.ts';
import type { Ways } from '../../../lib/notices/channels.ts';
import { openWorld, testConfig, type World } from '../../support/world.ts';

/** A whole local relay with its page. */
export interface PageWorld {
  readonly world: World;
  readonly page: PageServer;
  /** With the cookie and the origin of the page. */
  get<T = unknown>(path: string): Promise<PageAnswer<T>>;
  post<T = unknown>(path: string, body: object): Promise<PageAnswer<T>>;
  close(): Promise<void>;
}

export interface PageAnswer<T> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: T;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request with exactly these headers, which a browser would not let a script set. */
export async function askPage<T = unknown>(
  url: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<PageAnswer<T>> {
  const sent = request(url, { method, headers, agent: false });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const said = await text(response);
  const isJson = String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers,
    text: said,
    body: isJson ? JSON.parse(said) : null,
  };
}

/** Hands the token of the URL in, as the page does. @returns the cookie */
export async function enterPage({ url, entryUrl }: PageServer): Promise<string> {
  const token = new URL(entryUrl).hash.slice('#token='.length);
  const { headers } = await askPage(`${url}/api/enter`, {
    method: 'POST',
    headers: { origin: url },
    body: JSON.stringify({ token }),
  });
  return String(headers['set-cookie']).split(';')[0] ?? '';
}

export interface PageWorldOptions {
  readonly isReadOnly?: boolean;
  readonly config?: RelayConfig;
  /** How often the relay follows by itself; absent: it does not. */
  readonly followEveryMs?: number;
  readonly snapshots?: SnapshotSettings;
  /** How the channels of the notices are reached, which the configuration names. */
  readonly ways?: Ways;
}

export async function openPageWorld(options: PageWorldOptions = {}): Promise<PageWorld> {
  const { isReadOnly = false, config = testConfig, ...rest } = options;
  const host = parseConfig(config);
  const world = await openWorld({ dialect: 'live', settings: host.settings, notices: host.notices, ...rest });
  const data = dirname(world.secretsPath);
  const relayUrl = new URL(world.webhookUrl).origin;
  writeRun(locateDataFolder(data), { relayUrl, exchangeUrl: world.paper.url, dialect: 'live' });
  const session = openLocalSession(data, host);
  const page = await startDashboard({ session, createProgram, port: 0, isReadOnly });
  const cookie = await enterPage(page);
  return {
    world,
    page,
    get: (path) => askPage(`${page.url}${path}`, { headers: { cookie } }),
    post: (path, body) =>
      askPage(`${page.url}${path}`, {
        method: 'POST',
        headers: { cookie, origin: page.url },
        body: JSON.stringify(body),
      }),
    async close() {
      await page.close();
      session.close();
      await world.close();
    },
  };
}
