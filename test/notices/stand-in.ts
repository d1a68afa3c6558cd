import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ways } from '../../lib/notices/channels.ts';

/** What a service shows to its reader, after it has undone the escapes. */
export interface Shown {
  readonly text: string;
  readonly isSilent: boolean;
}

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Reply = { readonly status: number; readonly body?: object; readonly headers?: Record<string, string> };
type Verdict = Shown | Reply;

/** A server on loopback that takes what each service documents, refuses everything else, and keeps what its reader sees. */
export interface StandIn {
  readonly url: string;
  readonly ways: Ways;
  readonly shown: Readonly<Record<Service, Shown[]>>;
  /** What the next requests get instead of being read, in their order. */
  readonly replies: (Reply | 'cut')[];
  readonly requestCount: () => number;
  close(): Promise<void>;
}

const services = ['telegram', 'slack', 'discord', 'ntfy', 'webhook'] as const;
type Service = (typeof services)[number];

export const tokens = {
  bot: '123456:AAE-stand-in-token-of-a-bot',
  slackPath: '/services/T000/B000/stand-in-path',
  discordPath: '/api/webhooks/42/stand-in-token',
  ntfyTopic: 'stand-in-topic',
  ntfyToken: 'tk_standinstandinstandinstandins',
  webhookKey: `whsec_${Buffer.from('a key of the stand-in server').toString('base64')}`,
};

export async function startStandIn(): Promise<StandIn> {
  const shown = Object.fromEntries(services.map((name) => [name, [] as Shown[]])) as Record<Service, Shown[]>;
  const replies: (Reply | 'cut')[] = [];
  let count = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    count += 1;
    const received = { path: request.url ?? '', headers: request.headers, body };
    const service = serviceOf(received.path);
    const scripted = replies.shift();
    const judged = scripted === 'cut' || scripted === undefined ? judge(service, received) : scripted;
    if ('text' in judged && service !== null) shown[service].push(judged);
    // The request was taken, and its answer is lost.
    if (scripted === 'cut') request.socket.destroy();
    else if ('text' in judged) response.writeHead(200).end('{"ok":true}');
    else response.writeHead(judged.status, judged.headers).end(JSON.stringify(judged.body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    shown,
    replies,
    requestCount: () => count,
    ways: {
      telegram: { botToken: tokens.bot, chatId: '-100200300', server: url },
      slack: { url: `${url}${tokens.slackPath}` },
      discord: { url: `${url}${tokens.discordPath}` },
      ntfy: { topic: tokens.ntfyTopic, token: tokens.ntfyToken, server: url },
      webhook: { url: `${url}/own`, key: tokens.webhookKey },
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function serviceOf(path: string): Service | null {
  if (path === `/bot${tokens.bot}/sendMessage`) return 'telegram';
  if (path === tokens.slackPath) return 'slack';
  if (path.startsWith('/api/v10/webhooks/42/stand-in-token')) return 'discord';
  if (path === '/') return 'ntfy';
  return path === '/own' ? 'webhook' : null;
}

function judge(service: Service | null, received: Received): Verdict {
  if (service === null) return { status: 404 };
  if (received.headers['content-type']?.startsWith('application/json') !== true) return { status: 415 };
  return judges[service](JSON.parse(received.body) as Record<string, unknown>, received);
}

type Judge = (body: Record<string, unknown>, received: Received) => Verdict;

const refused = (description: string): Reply => ({ status: 400, body: { ok: false, description } });

const judges: Readonly<Record<Service, Judge>> = {
  telegram({ chat_id: chat, text, parse_mode: mode, disable_notification: isSilent }) {
    if (chat !== '-100200300' || typeof text !== 'string' || mode !== 'HTML')
      return refused('chat not found');
    const outsideCode = text.replaceAll(/<code>[^<]*<\/code>|<\/?b>/g, '');
    if (/https?:|\w\.[a-z]{2}|[@#$/]\w/i.test(undoEntities(outsideCode)))
      return refused('it would be a link');
    const withoutTags = text.replaceAll(/<\/?(?:b|code)>/g, '');
    if (/[<>]|&(?!(?:lt|gt|amp|quot);)/.test(withoutTags)) return refused("can't parse entities");
    const plain = undoEntities(withoutTags);
    if (plain.length === 0 || plain.length > 4096) return refused('message is too long');
    return { text: plain, isSilent: isSilent === true };
  },
  slack({ text, mrkdwn }) {
    if (typeof text !== 'string' || text.length > 4000) return refused('msg_too_long');
    // What is in angle brackets would be a link or a mention.
    if (/[<>]|&(?!(?:lt|gt|amp);)/.test(text)) return refused('invalid_payload');
    if (mrkdwn !== false) return refused('underscores of a market would be a format');
    return { text: undoEntities(text), isSilent: false };
  },
  discord({ content, allowed_mentions: mentions, flags }, { path }) {
    if (typeof content !== 'string' || content.length === 0 || content.length > 2000)
      return refused('Must be 2000 or fewer in length.');
    if (JSON.stringify(mentions) !== '{"parse":[]}') return refused('it could mention everyone');
    if (!path.endsWith('?wait=true')) return refused('nobody knows whether it is stored');
    const withoutBold = content.replace(/^\*\*(.*)\*\*(?=\n|$)/, '$1');
    if (/(?<!\\)(?:\\\\)*[*_~`|<>@#]/.test(withoutBold)) return refused('a format that nobody meant');
    return { text: withoutBold.replaceAll(/\\(.)/g, '$1'), isSilent: (Number(flags) & 4096) !== 0 };
  },
  ntfy({ topic, title, message, priority }, { headers }) {
    if (headers.authorization !== `Bearer ${tokens.ntfyToken}`) return { status: 403 };
    if (topic !== tokens.ntfyTopic || typeof title !== 'string' || typeof message !== 'string')
      return refused('topic');
    if (Buffer.byteLength(title) > 1024) return refused('title too long');
    if (message === '' || Buffer.byteLength(message) > 4096) return refused('it would be an attachment');
    return { text: `${title}\n${message}`, isSilent: priority === 2 };
  },
  webhook({ data }, { headers, body }) {
    const [id, seconds] = [headers['webhook-id'], headers['webhook-timestamp']];
    const key = Buffer.from(tokens.webhookKey.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
    if (headers['webhook-signature'] !== `v1,${expected}`) return { status: 401 };
    const { title, lines, isSilent } = data as { title: string; lines: string[]; isSilent: boolean };
    return { text: [title, ...lines].join('\n'), isSilent };
  },
};

function undoEntities(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
