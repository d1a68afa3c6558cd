import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeAll(async () => {
  relay = await startRelay('live');
});

afterAll(() => relay.world.close());

describe('paper price', () => {
  test('moves the price, exactly', async () => {
    const document = await runForJson(relay.here('paper', 'price', 'ETH_USDT', '3100.5'));

    expect(document).toEqual({ market: 'ETH_USDT', price: '3100.5', volume: null });
    expect(relay.world.paper.control.state().prices['ETH_USDT']).toBe('3100.5');
  });

  test('fills no more than the volume given', async () => {
    relay.world.setPrice('BTC_USDT', '60000');
    await runForJson(relay.here('send', 'examples/buy-stop-limit.json'));
    const { orderId } = await relay.world.settled('example-buy-1');

    const document = await runForJson(relay.here('paper', 'price', 'BTC_USDT', '60500', '--volume', '0.004'));

    const order = relay.world.paper.control.state().orders.find((one) => one.orderId === orderId);
    expect(document).toEqual({ market: 'BTC_USDT', price: '60500', volume: '0.004' });
    expect(order).toMatchObject({ status: 'partially_filled', left: '0.006' });
  });

  test('of a market there is not is refused with those there are', async () => {
    const failure = await runForFailure(relay.here('paper', 'price', 'NOPE_USDT', '1'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('BTC_USDT');
  });
});

describe('paper faults', () => {
  test('are set, listed, and taken back', async () => {
    const set = await runForJson(
      relay.here('paper', 'fault', 'drop_after', '--endpoint', 'stop-limit', '--count', '2'),
    );
    await runForJson(relay.here('paper', 'fault', 'delay', '--delay-ms', '250', '--probability', '0.5'));
    const listed = await runForJson(relay.here('paper', 'faults'));
    const { stdout: table } = await runCli(relay.here('paper', 'faults'));
    const cleared = await runForJson(relay.here('paper', 'clear-faults'));

    expect(set).toMatchObject({
      fault: { fault: 'drop_after', endpoint: 'stop-limit', remaining: 2, struck: 0 },
    });
    expect(listed).toMatchObject({
      faults: [
        { fault: 'drop_after', endpoint: 'stop-limit', remaining: 2, probability: null, delayMs: null },
        { fault: 'delay', endpoint: null, remaining: null, probability: 0.5, delayMs: 250 },
      ],
    });
    expect(table).toMatch(/^drop_after +stop-limit +2 more +0$/m);
    expect(table).toMatch(/^delay +any +with probability 0\.5, 250 ms late +0$/m);
    expect(cleared).toEqual({ faults: [] });
    expect(relay.world.paper.control.faults()).toEqual([]);
    expect((await runCli(relay.here('paper', 'faults'))).stdout).toBe('No faults are set.\n');
  });

  test('without what they need are refused with what is missing', async () => {
    const failure = await runForFailure(relay.here('paper', 'fault', 'delay'));

    expect(failure).toMatchObject({ exitCode: 1, code: 'paper_refused' });
    expect(failure.message).toContain('delayMs');
  });
});

describe('paper state', () => {
  test('is the whole state for programs, and tables for people', async () => {
    relay.world.setPrice('SOL_USDT', '151');
    const [document, { stdout }] = await Promise.all([
      runForJson(relay.here('paper', 'state')),
      runCli(relay.here('paper', 'state')),
    ]);

    expect(document).toEqual(JSON.parse(JSON.stringify(relay.world.paper.control.state())));
    expect(stdout).toMatch(/^SOL_USDT +151$/m);
    expect(stdout).toMatch(/^main +BTC +1\.25 +[\d.]+ +[\d.]+$/m);
    expect(stdout).toMatch(/^second +BTC +0 +10 +0$/m);
  });
});

test('an exchange that is no paper exchange is told apart', async () => {
  const { relayUrl, world } = relay;
  relay.pointTo({ relayUrl, exchangeUrl: relayUrl });
  const failure = await runForFailure(relay.here('paper', 'state'));
  relay.pointTo({ relayUrl, exchangeUrl: world.paper.url });

  expect(failure).toMatchObject({ exitCode: 1, code: 'no_paper_exchange' });
});
