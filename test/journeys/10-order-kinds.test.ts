import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { openWorld, testConfig, type World } from '../support/world.ts';

const grounds = ['spot', 'margin', 'futures'] as const;
type Ground = (typeof grounds)[number];

const marketOf = { spot: 'BTC_USDT', margin: 'BTC_USDT', futures: 'BTC_PERP' } as const;
const tickerOf = { spot: 'BTCUSDT', margin: 'BTCUSDT', futures: 'BTCUSDT.P' } as const;

/** One guarded and one unguarded account for each place to trade. */
const { settings } = parseConfig({
  ...testConfig,
  accounts: Object.fromEntries(
    grounds.flatMap((tradesOn) => {
      const markets = { [marketOf[tradesOn]]: { tradesOn, maxNotional: '200000' } };
      return [
        [tradesOn, { mode: 'live', limitOffset: '0.1%', maxSlippage: '0.5%', markets }],
        [`${tradesOn}-open`, { mode: 'live', allowUnguardedMarket: true, markets }],
      ] as const;
    }),
  ),
});

let world: World;
beforeEach(async () => {
  world = await openWorld({ dialect: 'live', settings });
  world.setPrice('BTC_USDT', '50000');
  world.setPrice('BTC_PERP', '50000');
});
afterEach(() => world.close());

const orders = (): readonly OrderState[] => world.paper.control.state().orders;

/** Fields of an alert; without an id of its own it is `order-1`. */
type Fields = Readonly<Record<string, unknown>> & { readonly id?: string };

async function send(ground: Ground, fields: Fields, account: string = ground) {
  const alert = { id: 'order-1', ticker: tickerOf[ground], action: 'buy', quantity: '0.01', ...fields };
  const { status } = await world.post(JSON.stringify(alert), { account });
  expect(status).toBe(202);
  return await world.settled(alert.id, account);
}

/** The fields of an alert that names no quantity. */
const noQuantity = { quantity: undefined };

describe.each(grounds)('on %s', (ground) => {
  const prefix = ground === 'spot' ? 'spot_' : '';
  const open = `${ground}-open`;

  test('a limit order rests at its price', async () => {
    const entry = await send(ground, { orderType: 'limit', limitPrice: '49000' });

    expect(entry).toMatchObject({ status: 'placed', orderOpen: true });
    expect(orders()).toMatchObject([
      { type: `${prefix}limit`, status: 'open', price: '49000', amount: '0.01' },
    ]);
  });

  test('a stop-limit order waits for its trigger price', async () => {
    const entry = await send(ground, { stopPrice: '51000', limitPrice: '51050' });

    expect(entry).toMatchObject({ status: 'placed', orderOpen: true });
    expect(orders()).toMatchObject([
      {
        type: `${prefix}stop_limit`,
        status: 'open',
        activated: false,
        activationPrice: '51000',
        price: '51050',
      },
    ]);
  });

  test('a guarded market order fills at once within its bound, and what was read stands in the ledger first', async () => {
    const entry = await send(ground, { orderType: 'market' });

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(orders()).toMatchObject([{ type: `${prefix}limit`, status: 'filled', amount: '0.01' }]);
    const { price, filledNotional } = orders()[0] as OrderState;
    const best = Number(price) / 1.005;
    expect(best).toBeGreaterThan(50_000);
    expect(best).toBeLessThan(50_010);
    expect(Number(filledNotional)).toBeLessThanOrEqual(0.01 * Number(price));
    expect(entry.steps.find(({ status }) => status === 'sending')?.evidence).toMatchObject({
      sizedOn: { ageMs: expect.any(Number), oppositePrice: expect.any(String) },
      amount: '0.01',
      price,
    });
  });

  test('a market order without a bound fills at once where the account allows it', async () => {
    const entry = await send(ground, { orderType: 'market' }, open);

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(orders()).toMatchObject([
      { type: ground === 'spot' ? 'spot_stock_market' : 'market', status: 'filled', amount: '0.01' },
    ]);
  });

  test('a stop-market order fills when its trigger price is reached', async () => {
    const size = ground === 'spot' ? { ...noQuantity, quoteQuantity: '500' } : {};
    const entry = await send(ground, { orderType: 'stop_market', stopPrice: '51000', ...size }, open);
    world.setPrice(marketOf[ground], '51000');

    expect(entry).toMatchObject({ status: 'placed', orderOpen: true });
    expect(orders()).toMatchObject([{ type: `${prefix}stop_market`, status: 'filled' }]);
  });

  test('an order of every kind is cancelled by the id of its signal', async () => {
    await send(ground, { orderType: 'limit', limitPrice: '49000' });
    const cancel = { id: 'undo', action: 'cancel', signalId: 'order-1', ...noQuantity };

    expect(await send(ground, cancel)).toMatchObject({ status: 'cancelled' });
    expect(orders()).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('flags of an order', () => {
  test('a post-only order that would take is rejected by the exchange, and nothing rests', async () => {
    const entry = await send('spot', { orderType: 'limit', limitPrice: '51000', postOnly: true });

    expect(entry.status).toBe('rejected');
    expect(orders()).toEqual([]);
  });

  test('an order that takes or cancels leaves nothing in the book', async () => {
    const entry = await send('margin', { orderType: 'limit', limitPrice: '49000', ioc: true });

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(orders()).toMatchObject([{ status: 'cancelled', filled: '0' }]);
  });

  test('a reduce-only order without a position is rejected by the exchange', async () => {
    const entry = await send('futures', { orderType: 'limit', limitPrice: '49000', reduceOnly: true });

    expect(entry.status).toBe('rejected');
    expect(entry.steps.at(-1)?.note).toContain('116');
    expect(orders()).toEqual([]);
  });

  test('a reduce-only order that is larger than the position is cut to it, and the ledger says so', async () => {
    await send('futures', { orderType: 'market', quantity: '0.01' });
    const exit = { id: 'exit', action: 'exit_long', orderType: 'market', quantity: '0.03' };
    const entry = await send('futures', exit);

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(entry.steps.at(-1)?.note).toContain('; cut to 0.01 by the exchange, the size of the position');
    expect(orders()[1]).toMatchObject({ side: 'sell', amount: '0.01', status: 'filled', reduceOnly: true });
  });

  test('stop-loss and take-profit as distances are placed from the best opposite price', async () => {
    await send('margin', { orderType: 'market', stopLoss: '2%', takeProfit: '4%' });

    expect(orders().map(({ type, status }) => `${type} ${status}`)).toEqual([
      'limit filled',
      'stop_limit open',
      'limit open',
    ]);
    const [, stop, profit] = orders();
    expect(Number(stop?.activationPrice)).toBeCloseTo(49_000, -2);
    expect(Number(profit?.price)).toBeCloseTo(52_000, -2);
  });
});

describe('sizes', () => {
  test('quote money on spot without a bound goes to the endpoint that is sized in it', async () => {
    const money = { ...noQuantity, quoteQuantity: '500' };
    await send('spot', { orderType: 'market', ...money }, 'spot-open');

    expect(orders()).toMatchObject([{ type: 'spot_market', amount: '500', status: 'filled' }]);
  });

  test('a share of the position only reduces it', async () => {
    await send('futures', { orderType: 'market', quantity: '0.02' });
    const half = { id: 'half', action: 'sell', orderType: 'market', quantityPercent: '50%', of: 'position' };
    const entry = await send('futures', { ...half, ...noQuantity });

    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(orders()[1]).toMatchObject({ side: 'sell', amount: '0.01', status: 'filled' });
  });

  test('a share of the free collateral is denied above the limits of the account', async () => {
    const all = { orderType: 'market', ...noQuantity, quantityPercent: '100%' };
    const entry = await send('margin', all);

    expect(entry.status).toBe('denied');
    expect(entry.steps.at(-1)?.evidence).toMatchObject({
      rule: 'max_notional',
      limit: '200000',
      readings: { sizedOn: { holding: { of: 'collateral' } } },
    });
    expect(orders()).toEqual([]);
  });

  test('spot has no take-profit, which is refused by name', async () => {
    const entry = await send('spot', { orderType: 'market', takeProfit: '2%' });

    expect(entry.status).toBe('denied');
    expect(entry.steps.at(-1)?.evidence).toMatchObject({ rule: 'not_on_spot', actual: 'takeProfit' });
    expect(orders()).toEqual([]);
  });
});

describe('cancel_all with the scope of the market', () => {
  test('cancels what this relay did not place, too, and reads back that nothing is left', async () => {
    await send('margin', { orderType: 'limit', limitPrice: '49000' });
    await send('margin', { id: 'other', orderType: 'limit', limitPrice: '48000' }, 'margin-open');
    const all = { id: 'all', action: 'cancel_all', scope: 'market', ...noQuantity };
    const entry = await send('margin', all);

    expect(entry).toMatchObject({ status: 'cancelled' });
    expect(entry.steps.at(-1)).toMatchObject({
      note: 'of 2 orders: 2 cancelled; none of them is open any more',
      evidence: { left: [] },
    });
    expect(orders().map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  });
});
