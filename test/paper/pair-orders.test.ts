import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, type Received, refusal, secondKey } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
let folder: string;
let paper: PaperExchange;
let post: Post;

const open = () =>
  startPaperExchange({
    port: 0,
    dialect: 'live',
    clock,
    walk: false,
    journalPath: join(folder, 'paper.sqlite'),
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paper-pairs-'));
  paper = await open();
  post = createPost(paper.url);
});

afterEach(async () => {
  await paper.close();
  rmSync(folder, { recursive: true });
});

const createPath = '/api/v4/order/collateral/oco';
const cancelPath = '/api/v4/order/oco-cancel';
const marketPath = '/api/v4/order/collateral/market';
const pair = {
  market: 'BTC_USDT',
  side: 'sell',
  amount: '1',
  price: '66000',
  activation_price: '55000',
  stop_limit_price: '54000',
};

const buy = (amount: string, market = 'BTC_USDT') => post(marketPath, { market, side: 'buy', amount });
const trade = (price: string) => paper.control.setPrice('BTC_USDT', parseDecimal(price));
const positions = () => paper.control.state().accounts['main']?.positions;
const openOrders = () => paper.control.state().orders.filter(({ status }) => status === 'open');
const idOf = ({ body }: Received) => (body as { id: number }).id;

describe('a pair of a client', () => {
  test('is answered with both legs, whose ids follow the id of the pair', async () => {
    await buy('1');

    const placed = await post(createPath, { ...pair, clientOrderId: 'mine', reduceOnly: true });

    const id = idOf(placed);
    const leg = {
      clientOrderId: 'mine',
      market: 'BTC_USDT',
      side: 'sell',
      timestamp: 1_790_000_000,
      mtime: 1_790_000_000,
      dealMoney: '0',
      dealStock: '0',
      dealFee: '0',
      amount: '1',
      left: '1',
      status: 'OPEN',
      stp: 'no',
      post_only: false,
      positionSide: 'BOTH',
      takerFee: '0.001',
      makerFee: '0.001',
    };
    expect(placed).toEqual({
      status: 200,
      body: {
        id,
        reduceOnly: true,
        stop_loss: {
          ...leg,
          orderId: id + 1,
          type: 'margin stop limit',
          price: '54000',
          activation_price: '55000',
          activation_condition: 'lte',
          activated: 0,
        },
        take_profit: { ...leg, orderId: id + 2, type: 'margin limit', price: '66000' },
      },
    });
  });

  test('stands in the lists of pairs and of orders', async () => {
    const id = idOf(await post(createPath, { ...pair, clientOrderId: 'mine' }));

    const conditional = await post('/api/v4/conditional-orders', { market: 'BTC_USDT' });
    const pairs = await post('/api/v4/oco-orders', { market: 'BTC_USDT' });
    const orders = await post('/api/v4/orders', { market: 'BTC_USDT', clientOrderId: 'mine' });

    expect(conditional.body).toMatchObject({
      total: 1,
      records: [{ id, type: 'oco', stopLoss: { price: '54000' }, takeProfit: { price: '66000' } }],
    });
    expect(pairs.body).toMatchObject([{ id, stop_loss: { activation_price: '55000' } }]);
    expect(orders.body).toMatchObject([{ orderId: id + 2 }, { orderId: id + 1 }]);
  });

  test.each([
    ['take-profit', '66000', 66_000],
    ['stop-loss', '54500', 54_500],
  ])('closes with its %s, and cancels the other leg', async (_, price, proceeds) => {
    await buy('1');
    await post(createPath, pair);

    trade(price);

    expect(positions()).toEqual({});
    expect(openOrders()).toEqual([]);
    const sold = paper.control
      .state()
      .orders.filter(({ side, status }) => side === 'sell' && status === 'filled');
    expect(sold.map(({ filledNotional }) => Number(filledNotional))).toEqual([proceeds]);
  });

  test('that buys has its take-profit below and its stop-loss above', async () => {
    await post(marketPath, { market: 'BTC_USDT', side: 'sell', amount: '1' });
    const short = {
      ...pair,
      side: 'buy',
      price: '55000',
      activation_price: '66000',
      stop_limit_price: '67000',
    };

    const { body } = await post(createPath, { ...short, reduceOnly: true });
    trade('66000');

    expect(body).toMatchObject({ stop_loss: { activation_condition: 'gte' } });
    expect(positions()).toEqual({});
  });

  test('counts as one accepted create, reserves the funds of one leg, and survives a restart', async () => {
    await post(createPath, pair);
    const state = paper.control.state();
    await paper.close();

    paper = await open();

    expect(state).toMatchObject({ acceptedCreates: 1, ocos: [{ isOpen: true }] });
    // 54 000 and the taker fee of the stop-loss.
    expect(state.orders.map(({ reserved }) => reserved)).toEqual(['54054', '0']);
    expect(paper.control.state()).toEqual(state);
  });

  test('stays when a position is closed, unless it only reduces', async () => {
    await buy('2');
    await post(createPath, pair);
    await post(createPath, { ...pair, reduceOnly: true });

    await post('/api/v4/collateral-account/position/close', {
      market: 'BTC_USDT',
      positionId: 30_000_000_001,
    });

    expect(openOrders().map(({ reduceOnly }) => reduceOnly)).toEqual([false, false]);
  });
});

describe('a pair that only reduces', () => {
  test('is cut to the position', async () => {
    await buy('0.4');

    const { body } = await post(createPath, { ...pair, reduceOnly: true });

    expect(body).toMatchObject({ stop_loss: { amount: '0.4' }, take_profit: { amount: '0.4' } });
  });

  test('never turns a position that was made smaller since', async () => {
    await buy('1');
    await post(createPath, { ...pair, reduceOnly: true });
    await post(marketPath, { market: 'BTC_USDT', side: 'sell', amount: '0.7' });

    trade('54500');

    expect(positions()).toEqual({});
    expect(openOrders()).toEqual([]);
  });

  const none = refusal('reduceOnly', "Reduce-only: Position doesn't exist or wrong side", 116);

  test('is refused without a position, or in its direction', async () => {
    expect(await post(createPath, { ...pair, reduceOnly: true })).toEqual(none);
    await post(marketPath, { market: 'BTC_USDT', side: 'sell', amount: '1' });

    expect(await post(createPath, { ...pair, reduceOnly: true })).toEqual(none);
    expect(paper.control.state().ocos).toEqual([]);
  });

  test('is refused by an exchange that refuses reduce-only stops', async () => {
    await buy('1');
    paper.control.setExits({ refusesReduceOnlyStops: true });

    expect(await post(createPath, { ...pair, reduceOnly: true })).toEqual(
      refusal('reduceOnly', 'ReduceOnly field is not available for this order type.'),
    );
    expect((await post(createPath, pair)).status).toBe(200);
  });
});

describe('in hedge mode', () => {
  const hedged = { ...pair, market: 'BTC_PERP', reduceOnly: true };

  beforeEach(async () => {
    paper.control.setHedgeMode('main', true);
    await post(marketPath, { market: 'BTC_PERP', side: 'buy', amount: '1', positionSide: 'LONG' });
  });

  test('a pair names the position that it reduces', async () => {
    const { body } = await post(createPath, { ...hedged, positionSide: 'LONG' });

    expect(body).toMatchObject({
      stop_loss: { positionSide: 'LONG' },
      take_profit: { positionSide: 'LONG' },
    });
    expect(await post(createPath, hedged)).toEqual(
      refusal('hedgeMode', "Order's position side does not match user's setting", 114),
    );
  });
});

describe('a pair is refused', () => {
  test.each<[object, string, string, number]>([
    [{ market: undefined }, 'market', 'Market field is required.', 30],
    [{ price: undefined }, 'price', 'Price field is required.', 30],
    [{ activation_price: undefined }, 'activation_price', 'Activation price field is required.', 30],
    [{ stop_limit_price: undefined }, 'stop_limit_price', 'Stop limit price field is required.', 30],
    [{ stop_limit_price: '54000.001' }, 'stop_limit_price', 'Min stop limit price step = 0.01', 33],
    [
      { stop_limit_price: 'low' },
      'stop_limit_price',
      'Stop limit price field should be numeric string or number.',
      33,
    ],
    [{ stop_limit_price: '0' }, 'stop_limit_price', 'Stop limit price should be greater than 0.', 33],
    [{ amount: '0.000001' }, 'amount', 'Given amount is less than min amount 0.00001', 32],
    [{ price: '59000' }, 'price', 'Take profit order should be a maker order.', 150],
    [
      { activation_price: '61000' },
      'activation_price',
      'Activation price is on the wrong side of the market.',
      151,
    ],
    [
      { activation_price: '60000' },
      'activationPrice',
      'Activation price should not be equal to the last price',
      30,
    ],
    [{ amount: '100' }, 'amount', 'Not enough balance.', 17],
    [{ positionSide: 'LONG' }, 'hedgeMode', "Order's position side does not match user's setting", 114],
  ])('with %j', async (fields, key, text, code) => {
    expect(await post(createPath, { ...pair, ...fields })).toEqual(refusal(key, text, code));
    expect(paper.control.state()).toMatchObject({ ocos: [], orders: [], acceptedCreates: 0 });
  });

  test('with the client order id of another that is open', async () => {
    await post(createPath, { ...pair, clientOrderId: 'mine' });

    expect(await post(createPath, { ...pair, clientOrderId: 'mine' })).toEqual(
      refusal('clientOrderId', 'This client order id is already used by the current account.', 36),
    );
  });
});

describe('a pair is cancelled', () => {
  test.each([
    ['its id', (id: number) => ({ orderId: id })],
    ['its client order id', () => ({ clientOrderId: 'mine' })],
  ])('by %s', async (_, nameOf) => {
    const id = idOf(await post(createPath, { ...pair, clientOrderId: 'mine' }));

    const cancelled = await post(cancelPath, { market: 'BTC_USDT', ...nameOf(id) });
    const again = await post(cancelPath, { market: 'BTC_USDT', ...nameOf(id) });

    expect(cancelled).toMatchObject({
      status: 200,
      body: { id, stop_loss: { status: 'CANCELED' }, take_profit: { status: 'CANCELED' } },
    });
    expect(again).toMatchObject({ status: 400, body: { code: 2 } });
    expect(openOrders()).toEqual([]);
  });

  test('by its owner only, and in its market', async () => {
    const id = idOf(await post(createPath, pair));

    expect((await post(cancelPath, { market: 'BTC_USDT', orderId: id }, secondKey)).status).toBe(400);
    expect((await post(cancelPath, { market: 'ETH_USDT', orderId: id })).status).toBe(400);
    expect(openOrders()).toHaveLength(2);
  });
});
