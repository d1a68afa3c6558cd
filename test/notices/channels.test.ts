import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import type { Sent } from '../../lib/notices/channel.ts';
import { channels, complainWays, type RequestChannelName, secretsIn } from '../../lib/notices/channels.ts';
import { createNews, type News } from '../../lib/notices/news.ts';
import { type NoticeMessage, writeNotice } from '../../lib/notices/notice-message.ts';
import { sendNotice } from '../../lib/notices/request-channel.ts';
import { type StandIn, startStandIn, tokens } from './stand-in.ts';

const names = Object.keys(channels) as RequestChannelName[];
const nowMs = Date.UTC(2026, 10, 24, 12);

let standIn: StandIn;
let transport: Transport;
beforeEach(async () => {
  standIn = await startStandIn();
  transport = createTransport();
});
afterEach(async () => {
  transport.close();
  await standIn.close();
});

function news(changes: Partial<News> = {}): News {
  return createNews({
    key: `key ${changes.headline ?? ''}`,
    category: 'filled',
    account: 'main',
    atMs: nowMs,
    headline: 'bought 0.01 BTC_USDT at 60000',
    detail: '',
    isSingle: false,
    ...changes,
  });
}

function send(name: RequestChannelName, message: NoticeMessage): Promise<Sent> {
  return sendNotice(channels[name], standIn.ways[name] ?? {}, message, { transport, nowMs });
}

describe.each(names)('%s', (name) => {
  test('shows title and lines as they are', async () => {
    const message = writeNotice(
      [news(), news({ headline: 'sold 2 ETH_USDT', detail: 'by hand' })],
      false,
      nowMs,
    );

    expect(await send(name, message)).toEqual({ kind: 'sent' });
    expect(standIn.shown[name]).toEqual([
      {
        text: '2 notices: 2 filled\nmain · bought 0.01 BTC_USDT at 60000\nmain · sold 2 ETH_USDT — by hand',
        isSilent: false,
      },
    ]);
  });

  test('shows marks, mentions and tags as text', async () => {
    const detail = '@everyone <!channel> <b>&amp;</b> *a* _b_ ~c~ `d` [e](https://x.test) # f || g \\ > h';
    await send(name, writeNotice([news({ detail })], false, nowMs));

    expect(standIn.shown[name]).toHaveLength(1);
    expect(standIn.shown[name][0]?.text).toContain(detail);
  });

  test('takes any text in any number, cut to what the service takes', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 900 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 12 }), async (texts) => {
        const all = texts.map(([headline, detail]) =>
          news({ headline: `x${headline}`, detail, isSingle: true }),
        );
        const before = standIn.shown[name].length;
        expect(await send(name, writeNotice(all, false, nowMs))).toEqual({ kind: 'sent' });
        expect(standIn.shown[name]).toHaveLength(before + 1);
      }),
      { numRuns: 40 },
    );
  });

  test('a message that fits is shown whole', async () => {
    const one = news({ headline: 'h'.repeat(150), detail: '<&_*'.repeat(90), isSingle: true });
    let message = writeNotice([one], false, nowMs);
    for (let count = 2; count < 80; count += 1) {
      const longer = writeNotice(
        Array.from({ length: count }, () => one),
        false,
        nowMs,
      );
      if (!channels[name].fits(longer)) break;
      message = longer;
    }
    await send(name, message);

    expect(standIn.shown[name][0]?.text).toBe([message.title, ...message.lines].join('\n'));
  });

  test('a wait that the service asks for is heeded, and is no failure of the text', async () => {
    standIn.replies.push({
      status: 429,
      headers: { 'retry-after': '7' },
      body: { ok: false, parameters: { retry_after: 7 }, retry_after: 7 },
    });

    expect(await send(name, writeNotice([news()], false, nowMs))).toEqual({
      kind: 'wait',
      forMs: 7_000,
      reason: 'it asks to wait 7 s',
    });
  });

  test('a wait without a time, or with an absurd one, has bounds', async () => {
    standIn.replies.push(
      { status: 429 },
      {
        status: 429,
        headers: { 'retry-after': '99999999' },
        body: { parameters: { retry_after: 99999999 }, retry_after: 99999999 },
      },
    );
    const message = writeNotice([news()], false, nowMs);

    expect(await send(name, message)).toMatchObject({ kind: 'wait', forMs: 30_000 });
    expect(await send(name, message)).toMatchObject({ kind: 'wait', forMs: 300_000 });
  });

  test('a refusal says why, and never what opens the channel', async () => {
    const secrets = secretsIn(standIn.ways);
    standIn.replies.push({ status: 401, body: { description: `Unauthorized: ${secrets.join(' ')}` } });

    const sent = await send(name, writeNotice([news()], false, nowMs));

    expect(sent).toMatchObject({ kind: 'failed', reason: expect.stringContaining('HTTP 401') });
    for (const secret of Object.values(standIn.ways[name] ?? {}))
      expect(JSON.stringify(sent)).not.toContain(secret);
  });

  test('a lost answer is a failure', async () => {
    standIn.replies.push('cut');
    expect(await send(name, writeNotice([news()], false, nowMs))).toMatchObject({ kind: 'failed' });
    expect(standIn.shown[name]).toHaveLength(1);
  });
});

test.each(names.filter((name) => name !== 'slack'))('%s can tell without a sound', async (name) => {
  await send(name, writeNotice([news()], true, nowMs));
  expect(standIn.shown[name]).toMatchObject([{ isSilent: true }]);
});

test.each([
  'http://evil/a',
  'see evil.example',
  '@everyone',
  'a@evil.example',
  '/start',
  '#tag',
  '$TAG',
  '+380441234567',
])('telegram makes no link of %s', async (text) => {
  const notice = writeNotice([news({ headline: `<${text}>` })], false, nowMs);
  const message = { ...notice, lines: [text, '0.01 BTC_USDT at 50000.5'] };

  expect(await send('telegram', message)).toEqual({ kind: 'sent' });
  const { text: sent = '' } = JSON.parse(
    channels.telegram.compose(message, standIn.ways.telegram ?? {}, nowMs).body ?? '{}',
  ) as { text?: string };
  expect(sent.replaceAll(/<code>[^<]*<\/code>/g, '')).not.toContain(text);
  expect(sent).toContain('\n0.01 BTC_USDT at 50000.5');
});

test('a signed request has the same id when the same news come again, and another one for others', () => {
  const idOf = (message: NoticeMessage) =>
    channels.webhook.compose(message, standIn.ways.webhook ?? {}, nowMs).headers['webhook-id'];
  const [first, other] = [news(), news({ headline: 'another' })];

  expect(idOf(writeNotice([first], false, nowMs))).toBe(idOf(writeNotice([first], true, nowMs + 5)));
  expect(idOf(writeNotice([first], false, nowMs))).not.toBe(idOf(writeNotice([other], false, nowMs)));
});

test('a way that cannot be used is refused without being quoted', () => {
  const faults = complainWays({
    telegram: { botToken: 'no token', chatId: '5' },
    slack: { url: 'http://hooks.example.com/x' },
    ntfy: { topic: 'a b' },
    webhook: { url: 'https://x.test', key: 'whsec_short', more: '1' },
    pager: {},
  });

  expect(faults).toEqual([
    'botToken of telegram cannot be used',
    'url of slack cannot be used',
    'topic of ntfy cannot be used',
    'key of webhook cannot be used',
    'webhook has fields that it does not know',
    'it names a channel that this release does not know',
  ]);
  expect(complainWays(standIn.ways)).toEqual([]);
  expect(secretsIn(standIn.ways)).toEqual([
    tokens.bot,
    `${standIn.url}${tokens.slackPath}`,
    `${standIn.url}${tokens.discordPath}`,
    tokens.ntfyTopic,
    tokens.ntfyToken,
    tokens.webhookKey,
  ]);
});
