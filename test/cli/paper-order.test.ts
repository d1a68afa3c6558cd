import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { runCli, runForFailure, runForJson } from './run-cli.ts';
import { type RunningRelay, startRelay } from './running-relay.ts';

let relay: RunningRelay;

beforeEach(async () => {
  relay = await startRelay('live');
  relay.world.setPrice('BTC_USDT', '50000');
});

afterEach(() => relay.world.close());

const place = (...args: string[]) => runForJson(relay.here('paper', 'order', 'BTC_USDT', ...args));
const orders = () => relay.world.paper.control.state().orders;

describe('paper order', () => {
  test.each([
    ['a market order', ['buy', '0.01'], { type: 'market', side: 'buy', amount: '0.01', status: 'filled' }],
    [
      'a limit order',
      ['sell', '0.02', '--price', '51000'],
      { type: 'limit', side: 'sell', price: '51000', status: 'open' },
    ],
    [
      'a stop-market order',
      ['buy', '0.01', '--stop', '51000'],
      { type: 'stop_market', activationPrice: '51000', status: 'open' },
    ],
    [
      'a stop-limit order',
      ['buy', '0.01', '--stop', '51000', '--price', '51100'],
      { type: 'stop_limit', activationPrice: '51000', price: '51100', status: 'open' },
    ],
    ['an order on spot', ['buy', '0.01', '--spot'], { type: 'spot_stock_market', status: 'filled' }],
  ])('places %s, which carries no client order id', async (_, args, placed) => {
    const document = await place(...args);

    expect(document).toMatchObject({ target: relay.target, account: 'main', order: { clientOrderId: '' } });
    expect(orders()).toMatchObject([{ ...placed, clientOrderId: '' }]);
  });

  test('places a stop-loss and a take-profit with it, and says what became of it', async () => {
    const args = [
      'paper',
      'order',
      'BTC_USDT',
      'buy',
      '0.01',
      '--stop-loss',
      '49000',
      '--take-profit',
      '52000',
    ];
    const { stdout } = await runCli(relay.here(...args));

    expect(stdout).toContain(`${relay.targetLine}placed`);
    expect(stdout).toMatch(/^status +filled$/m);
    expect(orders().map(({ side, status }) => `${side} ${status}`)).toEqual([
      'buy filled',
      'sell open',
      'sell open',
    ]);
  });

  test('closes a position as the owner would', async () => {
    await place('buy', '0.01');
    await place('sell', '0.01', '--reduce-only');

    expect(relay.world.paper.control.state().accounts['main']?.positions).toEqual({});
  });

  test('is refused with the words of the exchange', async () => {
    const failure = await runForFailure(
      relay.here('paper', 'order', 'BTC_USDT', 'sell', '0.01', '--reduce-only'),
    );

    expect(failure).toMatchObject({ exitCode: 1 });
    expect(failure.message).toContain("Reduce-only: Position doesn't exist or wrong side");
  });

  test.each([
    ['a side that is none', ['hold', '1']],
    ['no amount', ['buy']],
    ['an amount of zero', ['buy', '0']],
    ['exits on spot', ['buy', '1', '--spot', '--stop-loss', '1']],
    ['a stop-market buy on spot', ['buy', '1', '--spot', '--stop', '51000']],
  ])('takes no command line with %s', async (_, args) => {
    const failure = await runForFailure(relay.here('paper', 'order', 'BTC_USDT', ...args));

    expect(failure).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(orders()).toEqual([]);
  });
});
