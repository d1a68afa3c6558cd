import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { openWorld, testConfig, type World } from '../support/world.ts';

/** One account that says so itself. At the EU address every account is like it. */
const { settings } = parseConfig({
  ...testConfig,
  accounts: {
    main: {
      mode: 'live',
      region: 'eu',
      allowUnguardedMarket: true,
      limitOffset: '0.1%',
      markets: { BTC_USDT: { tradesOn: 'spot' } },
    },
  },
});

let world: World;
beforeEach(async () => {
  world = await openWorld({ dialect: 'live', settings });
  world.setPrice('BTC_USDT', '50000');
});
afterEach(() => world.close());

const orders = (): readonly OrderState[] => world.paper.control.state().orders;

async function send(fields: object) {
  const { status } = await world.post(JSON.stringify({ id: 'order-1', ticker: 'BTCUSDT', ...fields }));
  expect(status).toBe(202);
  return await world.settled('order-1');
}

describe('an account in the EU', () => {
  test.each([
    ['a market buy of base units', { action: 'buy', quantity: '0.01' }, 'spot_stock_market'],
    ['a market buy for quote units', { action: 'buy', quoteQuantity: '500' }, 'spot_market'],
    ['a market sell', { action: 'sell', quantity: '0.01' }, 'spot_stock_market'],
  ])('places %s without a price bound', async (_, fields, type) => {
    const entry = await send({ orderType: 'market', ...fields });

    expect(entry.status).toBe('placed');
    expect(orders()).toMatchObject([{ type, status: 'filled' }]);
  });

  test('places a stop-market order', async () => {
    const entry = await send({
      orderType: 'stop_market',
      action: 'sell',
      quantity: '0.01',
      stopPrice: '49000',
    });

    expect(entry.status).toBe('placed');
    expect(orders()).toMatchObject([{ type: 'spot_stop_market', status: 'open', activationPrice: '49000' }]);
  });

  test.each([
    ['a limit order', { orderType: 'limit', limitPrice: '49000' }, 'spot_limit'],
    [
      'a limit order with ioc, which has a price of its own',
      { orderType: 'limit', limitPrice: '51000', ioc: true },
      'spot_limit',
    ],
    ['a stop-limit order', { stopPrice: '51000' }, 'spot_stop_limit'],
    ['a market order with a price bound', { orderType: 'market', maxSlippage: '0.5%' }, 'spot_limit'],
  ])('is denied %s, and nothing is sent', async (_, fields, actual) => {
    const entry = await send({ action: 'buy', quantity: '0.01', ...fields });

    expect(entry.status).toBe('denied');
    expect(entry.steps.at(-1)?.evidence).toMatchObject({
      rule: 'eu_order_type',
      limit: 'market, stop_market',
      actual,
    });
    expect(orders()).toEqual([]);
  });
});
