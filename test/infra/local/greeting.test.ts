import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { type GreetingFacts, writeGreeting } from '../../../infra/local/greeting.ts';
import { listLimitNotes, parseConfig } from '../../../lib/host/config.ts';
import type { Account } from '../../../lib/model/account.ts';
import { describeRegions } from '../../../lib/model/region.ts';
import { firstAlertText } from '../../../lib/signals/first-alert.ts';
import shipped from '../../../relay.config.example.ts';

const { settings } = parseConfig(shipped);
const main = settings.accounts['main'] as Account;
const facts: GreetingFacts = {
  relayUrl: 'http://127.0.0.1:8080',
  exchangeUrl: 'http://127.0.0.1:8090',
  pageUrl: 'http://127.0.0.1:8070/#token=page-token',
  isLive: false,
  dialect: 'live',
  isFrozen: false,
  data: '.relay',
  webhookUrl: 'http://127.0.0.1:18080/signals/main/gsVbzIDBp0HcLwF3Qe2ZkT9xAyNmR4oJ',
  ownWebhookUrl: 'http://127.0.0.1:18080/signals/main/gsVbzIDBp0HcLwF3Qe2ZkT9xAyNmR4oJ',
  account: main,
  accounts: [main],
  tickers: settings.tickers,
  regionNotes: [],
  limitNotes: [],
  paused: [],
  wasPaperEmptied: false,
};

describe('the greeting of a local run', () => {
  test('ends with "ready", and has no warnings when there is nothing to warn about', () => {
    const greeting = writeGreeting(facts);

    expect(greeting.endsWith('\nready\n')).toBe(true);
    expect(greeting).not.toMatch(/PAPER|PAUSED|REGION|EDIT/);
  });

  test('shows the first alert of the README, and says which message a strategy has', () => {
    const greeting = writeGreeting(facts);

    expect(greeting).toContain(firstAlertText.replaceAll(/^/gm, '    '));
    expect(greeting).toContain('A first alert, for any chart or indicator');
    expect(greeting).toContain('A strategy has a message of its own');
  });

  test.each([
    ['as shipped', {}],
    [
      'with the notes of a region',
      { regionNotes: describeRegions({ main: { name: 'main', region: 'eu' } }) },
    ],
    [
      'after a pause, in another folder',
      {
        paused: [
          { account: 'main', kind: 'entries' },
          { account: 'rehearsal', kind: 'everything' },
        ],
        data: '/home/trader/relay/second',
      },
    ],
    ['with an emptied paper exchange', { wasPaperEmptied: true, isFrozen: true }],
    ['with accounts in mode live', { accounts: [{ name: 'main', mode: 'live' }] }],
    ['in the written API', { dialect: 'documented' }],
  ] as const)('fits 80 columns %s, so that the URL and each command can be copied', (_, changes) => {
    const lines = stripVTControlCharacters(writeGreeting({ ...facts, ...changes })).split('\n');

    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines).toContain(`  ${facts.webhookUrl}`);
  });

  test.each([
    ['the first alert', facts],
    ['an example', { ...facts, dialect: 'documented' as const }],
  ])('has a command for a shell, over several lines, that sends %s to the relay itself', async (_, own) => {
    const received = Promise.withResolvers<{ readonly url: string | undefined; readonly body: string }>();
    const server = createServer(async (request, response) => {
      received.resolve({ url: request.url, body: await text(request) });
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ownWebhookUrl = `http://127.0.0.1:${port}/signals/main/token`;

    const [command = ''] =
      /(?:sed .*\n +)?curl [\s\S]*?'http[^']+'/.exec(
        writeGreeting({ ...own, webhookUrl: 'https://relay.example.com/signals/main/token', ownWebhookUrl }),
      ) ?? [];
    execFile('sh', ['-c', command]);
    const { url, body } = await received.promise;
    server.close();

    expect(url).toBe('/signals/main/token');
    const { time, ...alert } = JSON.parse(body);
    expect(alert).toMatchObject({ ticker: 'BTCUSDT', action: 'buy' });
    if (own === facts) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test('says loudly that an account in mode live trades with play money here', () => {
    const live = { name: 'main', mode: 'live' } as const;
    const greeting = stripVTControlCharacters(
      writeGreeting({ ...facts, accounts: [live, { ...live, name: 'second' }] }),
    );

    expect(greeting).toContain(
      '  PAPER           main, second: the mode is "live", but `npm start` trades on\n',
    );
    expect(greeting).toContain('No order leaves this machine, and no real\n');
  });

  test.each([
    [['live', 'dry-run'], 'a: orders trade real money.'],
    [['dry-run', 'paper'], 'No account trades real money: none has mode "live".'],
  ] as const)('names the accounts that trade real money: %j', (modes, expected) => {
    const accounts = modes.map((mode, index) => ({ name: 'ab'[index] ?? '', mode }));

    expect(stripVTControlCharacters(writeGreeting({ ...facts, isLive: true, accounts }))).toContain(
      `  LIVE            ${expected}\n`,
    );
  });

  test.each([
    ['spot', 'buy-on-spot.json'],
    ['margin', 'buy-stop-limit.json'],
  ] as const)('tries an example that the account takes on %s', (tradesOn, example) => {
    const markets = { BTC_USDT: { ...main.markets['BTC_USDT'], tradesOn } };
    const account = { ...main, markets, maxSlippageRate: null, allowUnguardedMarket: tradesOn === 'spot' };

    expect(writeGreeting({ ...facts, account: account as Account })).toContain(`@examples/${example} `);
  });

  test('tries nothing where no example fits', () => {
    const greeting = writeGreeting({ ...facts, account: { ...main, markets: {} } });

    expect(greeting).not.toContain('Try it here');
    expect(greeting).toContain('  What became of each alert, from another terminal');
  });

  test('shows another message to an account that cannot send the first one', () => {
    const spot = { ...main, markets: { BTC_USDT: { ...main.markets['BTC_USDT'], tradesOn: 'spot' } } };

    for (const account of [spot, { ...main, region: 'eu' }, { ...main, markets: {} }])
      expect(writeGreeting({ ...facts, account: account as Account })).toContain(
        'An alert message for a TradingView strategy:',
      );
  });

  test('says what the region of an account leaves to it', () => {
    const regionNotes = describeRegions({ main: { name: 'main', region: 'eu' } });

    expect(stripVTControlCharacters(writeGreeting({ ...facts, regionNotes }))).toContain(
      '  REGION          main: in the EU the exchange offers spot trading only',
    );
  });

  test('says what the limits of an account leave out', () => {
    const markets = { BTC_USDT: { tradesOn: 'spot' } };
    const onSpot = parseConfig({
      ...shipped,
      accounts: { main: { mode: 'live', markets, maxOpenNotional: '500' } },
    }).settings;
    const limitNotes = listLimitNotes(onSpot);

    expect(stripVTControlCharacters(writeGreeting({ ...facts, limitNotes }))).toContain(
      '  LIMITS          main: maxOpenNotional does not count what has filled on spot\n',
    );
  });

  test('says that the paper exchange starts afresh', () => {
    expect(stripVTControlCharacters(writeGreeting({ ...facts, wasPaperEmptied: true }))).toContain(
      '  NEW             The paper exchange starts afresh:',
    );
  });

  test('names the fields to edit in a message that does not fit every script', () => {
    expect(writeGreeting({ ...facts, dialect: 'documented' })).toContain('; EDIT stopPrice first');
  });
});
