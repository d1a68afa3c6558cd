import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../lib/base/random.ts';
import type { RequestChannelName, Ways } from '../../lib/notices/channels.ts';
import { pick } from './chance.ts';

/** The services that notices are sent to in a run. */
export const noticeChannels = ['ntfy', 'webhook'] as const satisfies readonly RequestChannelName[];
export type ChaosChannel = (typeof noticeChannels)[number];

/** A request that a service has taken: its reader has seen it. */
export interface ShownNotice {
  readonly channel: ChaosChannel;
  readonly atMs: number;
  readonly title: string;
  /** What it tells in detail; of a notice of one thing, title and detail are one line. */
  readonly lines: readonly string[];
  /** Why the relay was not told so, and may send it again; null when it was. */
  readonly trouble: Trouble | null;
}

/** A reader of all notices, whose services fail now and then. */
export interface NoticeService {
  readonly ways: Ways;
  /** Oldest first. */
  readonly shown: readonly ShownNotice[];
  /** How often each trouble has struck. */
  readonly troubles: ReadonlyMap<Trouble, number>;
  /** From now on it answers every request. */
  calm(): void;
  close(): Promise<void>;
}

/** `cut` and `hang`: the request is taken, and its answer never comes. */
export type Trouble = 'asks_to_wait' | 'fails' | 'cut' | 'hang';

const usualTroubleRate = 0.2;
/** Longer than the relay waits. */
export const hangMs = 12_000;
/** No alert holds it by chance: it is a secret. */
const topic = 'chaos-notices-topic';

/** @param troubleRate how many of the requests meet a trouble */
export async function startNoticeService(
  random: Random,
  troubleRate: number = usualTroubleRate,
): Promise<NoticeService> {
  const shown: ShownNotice[] = [];
  const troubles = new Map<Trouble, number>();
  let isCalm = false;

  function draw(): Trouble | null {
    if (isCalm || random() >= troubleRate) return null;
    // A hanging request holds up the notices for many seconds, so there are few.
    const trouble = pick(random, ['asks_to_wait', 'fails', 'fails', 'cut', 'cut', 'cut', 'hang'] as const);
    troubles.set(trouble, (troubles.get(trouble) ?? 0) + 1);
    return trouble;
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const read = readNotice(request.url ?? '', Buffer.concat(chunks).toString());
    const trouble = draw();
    if (trouble === 'asks_to_wait') return void response.writeHead(429, { 'retry-after': '1' }).end();
    if (trouble === 'fails') return void response.writeHead(500).end();
    shown.push({ ...read, atMs: Date.now(), trouble });
    if (trouble === 'hang') await sleep(hangMs, undefined, { ref: false });
    if (trouble === null) response.writeHead(200).end('{}');
    else request.socket.destroy();
  }

  const server = createServer((request, response) => {
    // A relay that is killed breaks off its request.
    respond(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ways: {
      ntfy: { topic, server: url },
      webhook: { url: `${url}/own`, key: `whsec_${Buffer.alloc(32, 'chaos').toString('base64')}` },
    },
    shown,
    troubles,
    calm() {
      isCalm = true;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type ReadNotice = Pick<ShownNotice, 'channel' | 'title' | 'lines'>;

/** @throws Error when it is no request of a channel */
function readNotice(path: string, body: string): ReadNotice {
  const content = JSON.parse(body) as Record<string, unknown>;
  const [channel, { title, lines }] =
    path === '/own'
      ? (['webhook', content['data'] as { title: string; lines: string[] }] as const)
      : (['ntfy', readTopic(content)] as const);
  const isOne = !/^\d+ notices: /.test(title);
  return { channel, title, lines: isOne ? [[title, ...lines].join(' — ')] : lines };
}

function readTopic(content: Record<string, unknown>) {
  const [title, message] = [String(content['title']), String(content['message'])];
  if (content['topic'] !== topic) throw new Error('another topic');
  // A notice without a detail repeats its title.
  return { title, lines: message === title ? [] : message.split('\n') };
}
