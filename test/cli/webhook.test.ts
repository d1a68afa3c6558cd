import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { firstAlert } from '../../lib/signals/first-alert.ts';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeAll(async () => {
  relay = await startRelay('live');
});

afterAll(() => relay.world.close());

const strategyTemplate = {
  ticker: '{{ticker}}',
  marketPosition: '{{strategy.market_position}}',
  marketPositionSize: '{{strategy.market_position_size}}',
  orderType: 'market',
  time: '{{timenow}}',
  comment: '{{strategy.order.id}}',
};

describe('webhook', () => {
  test('gives the URL of the first account and a message to paste', async () => {
    expect(await runForJson(relay.here('webhook'))).toEqual({
      account: 'main',
      url: relay.world.webhookUrl,
      tickers: expect.objectContaining({ BTCUSDT: 'BTC_USDT', 'WHITEBIT:BTCUSDT': 'BTC_USDT' }),
      for: 'strategy',
      purpose: expect.stringContaining('For any strategy: brings the position to that of the strategy'),
      template: strategyTemplate,
      edits: [],
    });
  });

  test('marks what has to be edited in a message for another script', async () => {
    const { stdout } = await runCli(relay.here('webhook', '--for', 'indicator'));

    expect(stdout).toMatch(/^EDIT action, quantity, comment before you paste it:$/m);
    expect(stdout).toMatch(/^EDIT quantity: Write the amount of one order/m);
    expect(stdout).toContain('"action": "EDIT: buy or sell"');
    expect(stdout).toMatch(/^account +main \(paper\)$/m);
  });

  test('gives another account another URL', async () => {
    const { stdout } = await runCli(relay.here('webhook', 'rehearsal'));
    expect(await runCli(relay.here('webhook', '--account', 'rehearsal'))).toMatchObject({ stdout });

    expect(stdout).toMatch(/^account +rehearsal \(dry-run\)$/m);
    expect(stdout).toMatch(/^webhook +http:\/\/127\.0\.0\.1:\d+\/signals\/rehearsal\/[A-Za-z0-9_-]{32}$/m);
    expect(stdout).toMatch(/^tickers +BTCUSDT → BTC_USDT, WHITEBIT:BTCUSDT → BTC_USDT, ETHUSDT → ETH_USDT$/m);
    expect(stdout).toContain('"time": "{{timenow}}"');
    expect(stdout).not.toContain(relay.world.webhookUrl);
  });
});

describe('send', () => {
  test('carries the example to an order at the exchange, once', async () => {
    relay.world.setPrice('BTC_USDT', '60000');
    const first = await runForJson(relay.here('send', 'examples/buy-stop-limit.json'));
    const entry = await relay.world.settled('example-buy-1');
    const again = await runCli(relay.here('send', 'examples/buy-stop-limit.json'));

    expect(first).toEqual({
      target: relay.target,
      httpStatus: 202,
      signals: [{ signalId: 'example-buy-1', status: 'accepted', duplicate: false }],
    });
    expect(entry.status).toBe('placed');
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toMatch(/^example-buy-1 +known already: placed$/m);
    expect(again.stdout).toContain('npx relay signal example-buy-1');
    expect(relay.world.paper.control.state().acceptedCreates).toBe(1);
  });

  test('fills in the time as TradingView does, so that each sending is an alert of its own', async () => {
    const alert = { ...firstAlert, maxSlippage: '0.5%' };
    const sent = await runForJson(relay.here('send', '-'), JSON.stringify(alert));
    const { signals } = sent as { readonly signals: readonly { readonly signalId: string }[] };
    const entry = await relay.world.settled(signals[0]?.signalId ?? '');

    expect(entry.status).toBe('placed');
    expect(Math.abs((entry.signal?.timeMs ?? 0) - entry.createdAtMs)).toBeLessThan(2_000);
  });

  test('reads standard input, and takes several signals in one alert', async () => {
    const alert = JSON.stringify([
      { id: 'two-1', ticker: 'BTCUSDT', action: 'cancel_all' },
      { id: 'two-2', ticker: 'BTCUSDT', action: 'cancel_all' },
    ]);

    expect(await runForJson(relay.here('send', '-', '--account', 'rehearsal'), alert)).toEqual({
      target: relay.target,
      httpStatus: 202,
      signals: [
        { signalId: 'two-1', status: 'accepted', duplicate: false },
        { signalId: 'two-2', status: 'accepted', duplicate: false },
      ],
    });
  });

  test('prints every issue of a refused alert', async () => {
    const alert =
      '{"id":"bad-1","ticker":"BTCUSDT","action":"buy","quantity":"much","stopPrice":"1","stopLos":"1"}';
    const failure = await runForFailure(relay.here('send', '-'), alert);
    const { stderr, exitCode } = await runCli(relay.here('send', '-'), alert);

    expect(failure).toMatchObject({ exitCode: 1, code: 'invalid_signal' });
    expect(failure.issues.map(({ path }) => path).sort()).toEqual(['quantity', 'stopLos']);
    expect(failure.action).toBe('Correct the message, in TradingView or in your file, as each issue says.');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^ {2}stopLos: .*"stopLoss"/m);
    expect(stderr).toMatch(/^ {2}quantity: .+ \(.+\)$/m);
  });

  test('says of a message for TradingView where it belongs, and what to write to try it here', async () => {
    const failure = await runForFailure(relay.here('send', 'examples/tradingview-percent.json'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'invalid_signal' });
    expect(failure.action).toBe(
      'This message is for the message box of an alert in TradingView, which fills in {{ticker}}, {{strategy.order.action}}, {{strategy.order.id}}. To try it here, write values in their place.',
    );
    const hints = failure.issues.map(({ hint }) => hint);
    expect(hints).toContain('`relay send` fills in {{timenow}} alone');
    expect(JSON.stringify(failure)).not.toContain('TradingView did not fill');
  });

  test('reports a response that is not from a relay', async () => {
    const exchangeUrl = relay.world.paper.url;
    relay.pointTo({ relayUrl: exchangeUrl, exchangeUrl });
    const failure = await runForFailure(relay.here('send', '-'), '{}');
    relay.pointTo({ relayUrl: relay.relayUrl, exchangeUrl });

    expect(failure).toMatchObject({ exitCode: 1, code: 'strange_answer' });
  });

  test('distinguishes a lost response from a relay that is not running', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const exchangeUrl = relay.world.paper.url;
    relay.pointTo({ relayUrl: `http://127.0.0.1:${port}`, exchangeUrl });
    const failure = await runForFailure(relay.here('send', '-'), '{}');
    relay.pointTo({ relayUrl: relay.relayUrl, exchangeUrl });
    server.close();

    expect(failure).toMatchObject({ exitCode: 1, code: 'no_answer' });
    expect(failure.message).not.toContain('/signals/');
  });
});

test('no command but webhook shows a token, and none shows a key', async () => {
  const token = relay.world.webhookUrl.split('/').at(-1);
  const commands = [
    ['send', '-'],
    ['signals'],
    ['ping'],
    ['balance'],
    ['orders'],
    ['paper', 'state'],
    ['cancel', 'X'],
  ];

  const runs = await Promise.all(
    [...commands, ['webhook'], ['webhook', '--json']].map((args) => runCli(relay.here(...args), '{}')),
  );

  const said = runs.map(({ stdout, stderr }) => stdout + stderr);
  expect(said.map((text) => text.includes(token ?? '?'))).toEqual([...Array(7).fill(false), true, true]);
  expect(said.filter((text) => /paper-key|paper-secret/.test(text))).toEqual([]);
});
