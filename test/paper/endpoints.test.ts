import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, get, mainKey, moveTo, type Post, secondKey } from './paper-client.ts';

const startMs = 1_790_000_000_123;
const clock = createManualClock(startMs);
let paper: PaperExchange;
let post: Post;

async function open(dialect: 'documented' | 'live'): Promise<void> {
  moveTo(clock, startMs);
  paper = await startPaperExchange({ port: 0, dialect, clock, walk: false });
  post = createPost(paper.url);
}

afterEach(() => paper.close());

const createPath = '/api/v4/order/collateral/stop-limit';
const firstId = 10_000_000_001;

describe('the documented dialect', () => {
  beforeEach(() => open('documented'));

  const order = {
    market: 'BTC_USDT',
    side: 'buy',
    amount: '0.010',
    price: '61500',
    activation_price: '61000',
  };

  test('creates a stop-limit order', async () => {
    const created = await post(createPath, { ...order, client_order_id: 'first-1', positionSide: 'BOTH' });

    expect(created).toEqual({
      status: 200,
      body: {
        order_id: firstId,
        client_order_id: 'first-1',
        market: 'BTC_USDT',
        side: 'buy',
        type: 'stop limit',
        timestamp: 1790000000.123,
        deal_money: '0',
        deal_stock: '0',
        amount: '0.01',
        left: '0.01',
        deal_fee: '0',
        price: '61500',
        activation_price: '61000',
        status: 'NEW',
        stp: 'no',
        positionSide: 'BOTH',
      },
    });
  });

  test.each(['LONG', 'SHORT', 'BOTH'])(
    'takes the position side %s on a margin pair, and answers it with the order, its exits and its cancellation',
    async (positionSide) => {
      const stops = { ...order, stopLoss: '60000', takeProfit: '70000', positionSide };

      expect((await post(createPath, stops)).body).toMatchObject({ positionSide });
      const second = await post(createPath, { ...stops, client_order_id: 'second' });
      expect(second.body).toMatchObject({ positionSide });
      const cancelled = await post('/api/v4/order/cancel', {
        market: 'BTC_USDT',
        client_order_id: 'second',
      });
      expect(cancelled.body).toMatchObject({ status: 'CANCELLED', positionSide });
      paper.control.setPrice('BTC_USDT', parseDecimal('61450'));
      expect((await post('/api/v4/orders/conditional', {})).body).toMatchObject({
        records: [{ type: 'oco', stop_loss: { side: 'sell', positionSide }, take_profit: { positionSide } }],
      });
      // A margin pair has one position, whatever side was named.
      expect(Object.keys(paper.control.state().accounts['main']?.positions ?? {})).toEqual(['BTC_USDT']);
    },
  );

  test('responds with the planned take-profit and stop-loss, an absent one empty', async () => {
    const both = await post(createPath, { ...order, stopLoss: '60000', takeProfit: '65000' });
    const one = await post(createPath, { ...order, takeProfit: '65000' });

    expect(both.body).toMatchObject({
      client_order_id: '',
      oto: { otoId: firstId + 1, stopLoss: '60000', takeProfit: '65000' },
    });
    expect(one.body).toMatchObject({ oto: { otoId: firstId + 3, stopLoss: '', takeProfit: '65000' } });
  });

  test('lists an order with planned take-profit and stop-loss as OTO, and the two as OCO once it is filled', async () => {
    await post(createPath, { ...order, stopLoss: '60000', takeProfit: '65000' });
    const waiting = await post('/api/v4/orders/conditional');
    moveTo(clock, startMs + 1000);
    paper.control.setPrice('BTC_USDT', parseDecimal('61200'));
    const filled = await post('/api/v4/orders/conditional', { market: 'BTC_USDT' });

    const feeRates = { takerFee: '0.001', makerFee: '0.001' };
    const nothingDone = { deal_money: '0', deal_stock: '0', deal_fee: '0', amount: '0.01', left: '0.01' };
    const shared = { market: 'BTC_USDT', stp: 'no', positionSide: 'BOTH', post_only: false, status: 'NEW' };
    expect(waiting).toEqual({
      status: 200,
      body: {
        limit: 50,
        offset: 0,
        total: 1,
        records: [
          {
            id: firstId + 1,
            type: 'oto',
            stopLossPrice: '60000',
            takeProfitPrice: '65000',
            conditionalOrder: {
              ...shared,
              ...feeRates,
              ...nothingDone,
              order_id: firstId,
              client_order_id: '',
              side: 'buy',
              type: 'stop limit',
              timestamp: 1790000000.123,
              mtime: 1790000000.123,
              price: '61500',
              activation_price: '61000',
              activation_condition: 'gte',
              activated: 0,
            },
          },
        ],
      },
    });
    const leg = {
      ...shared,
      ...feeRates,
      ...nothingDone,
      client_order_id: '',
      side: 'sell',
      timestamp: 1790000001.123,
      mtime: 1790000001.123,
    };
    expect(filled).toEqual({
      status: 200,
      body: {
        limit: 50,
        offset: 0,
        total: 1,
        records: [
          {
            id: firstId + 2,
            type: 'oco',
            stop_loss: {
              ...leg,
              order_id: firstId + 3,
              type: 'stop limit',
              price: '59400',
              activation_price: '60000',
              activation_condition: 'lte',
              activated: 0,
            },
            take_profit: { ...leg, order_id: firstId + 4, type: 'limit', price: '65000' },
          },
        ],
      },
    });
  });

  test('cancels by order id and by client order id', async () => {
    await post(createPath, { ...order, client_order_id: 'a' });
    await post(createPath, { ...order, client_order_id: 'b' });

    const byId = await post('/api/v4/order/cancel', { market: 'BTC_USDT', order_id: firstId });
    const byClientId = await post('/api/v4/order/cancel', { market: 'BTC_USDT', client_order_id: 'b' });

    expect(byId).toEqual({
      status: 200,
      body: {
        order_id: firstId,
        client_order_id: 'a',
        market: 'BTC_USDT',
        side: 'buy',
        type: 'stop limit',
        timestamp: 1790000000.123,
        deal_money: '0',
        deal_stock: '0',
        amount: '0.01',
        left: '0.01',
        deal_fee: '0',
        price: '61500',
        postOnly: false,
        ioc: false,
        status: 'CANCELLED',
        stp: 'no',
        positionSide: 'BOTH',
        rpi: false,
      },
    });
    expect(byClientId.body).toMatchObject({ order_id: firstId + 1, status: 'CANCELLED' });
  });

  test('does not know the live names: a camelCase client order id is ignored', async () => {
    const created = await post(createPath, { ...order, clientOrderId: 'camel' });

    expect(created).toMatchObject({ status: 200, body: { client_order_id: '' } });
  });

  test('does not know the live address of the conditional list', async () => {
    expect((await post('/api/v4/conditional-orders')).status).toBe(404);
  });
});

describe('the live dialect', () => {
  beforeEach(() => open('live'));

  const order = {
    market: 'BTC_USDT',
    side: 'sell',
    amount: '0.01',
    price: '58500',
    activation_price: '59000',
  };

  test('creates a stop-limit order', async () => {
    const created = await post(createPath, {
      ...order,
      clientOrderId: 'first-1',
      stp: 'cb',
      stopLoss: '60000',
      takeProfit: '50000',
    });

    expect(created).toEqual({
      status: 200,
      body: {
        orderId: firstId,
        clientOrderId: 'first-1',
        market: 'BTC_USDT',
        side: 'sell',
        type: 'margin stop limit',
        timestamp: 1790000000.123,
        dealMoney: '0',
        dealStock: '0',
        amount: '0.01',
        left: '0.01',
        dealFee: '0',
        price: '58500',
        activation_price: '59000',
        activationCondition: 'lte',
        activated: 0,
        status: 'OPEN',
        stp: 'cb',
        positionSide: 'BOTH',
        reduceOnly: false,
        oto: { otoId: firstId + 1, stopLoss: '60000', takeProfit: '50000' },
      },
    });
  });

  test('an unknown route has an empty response, and so has a known one by the wrong method', async () => {
    expect(await get(paper.url, '/api/v4/public/nothing')).toEqual({ status: 404, body: '' });
    expect(await get(paper.url, createPath)).toEqual({ status: 404, body: '' });
  });

  test('silently drops a snake_case client order id', async () => {
    const created = await post(createPath, { ...order, client_order_id: 'snake' });

    expect(created).toMatchObject({ status: 200, body: { clientOrderId: '' } });
  });

  test('lists conditional orders under its own field names, up to 100 at a time', async () => {
    await post(createPath, { ...order, stopLoss: '60000', takeProfit: '50000' });
    paper.control.setPrice('BTC_USDT', parseDecimal('58900'));

    const listed = await post('/api/v4/conditional-orders');

    const leg = {
      clientOrderId: '',
      market: 'BTC_USDT',
      side: 'buy',
      timestamp: 1790000000.123,
      mtime: 1790000000.123,
      dealMoney: '0',
      dealStock: '0',
      dealFee: '0',
      amount: '0.01',
      left: '0.01',
      status: 'OPEN',
      stp: 'no',
      positionSide: 'BOTH',
      reduceOnly: false,
      postOnly: false,
    };
    expect(listed).toEqual({
      status: 200,
      body: {
        limit: 100,
        offset: 0,
        total: 1,
        records: [
          {
            id: firstId + 2,
            type: 'oco',
            stopLoss: {
              ...leg,
              orderId: firstId + 3,
              type: 'margin stop limit',
              price: '60600',
              activationPrice: '60000',
              activationCondition: 'gte',
              activated: 0,
            },
            takeProfit: { ...leg, orderId: firstId + 4, type: 'margin limit', price: '50000' },
          },
        ],
      },
    });
  });

  test('finds an open order by its client order id, and nothing once it has ended', async () => {
    await post(createPath, { ...order, clientOrderId: 'a' });
    const open = await post('/api/v4/orders', { market: 'BTC_USDT', clientOrderId: 'a' });
    const elsewhere = await post('/api/v4/orders', { market: 'ETH_USDT', clientOrderId: 'a' });
    await post('/api/v4/order/cancel', { market: 'BTC_USDT', clientOrderId: 'a' });
    const ended = await post('/api/v4/orders', { market: 'BTC_USDT', clientOrderId: 'a' });

    expect(open).toMatchObject({
      status: 200,
      body: [
        { orderId: firstId, clientOrderId: 'a', status: 'OPEN', activation_price: '59000', activated: 0 },
      ],
    });
    expect(elsewhere).toEqual({ status: 200, body: [] });
    expect(ended).toEqual({ status: 200, body: [] });
  });

  test('finds ended orders in the history, the newest first', async () => {
    await post(createPath, { ...order, clientOrderId: 'a' });
    moveTo(clock, startMs + 5000);
    await post('/api/v4/order/cancel', { market: 'BTC_USDT', orderId: firstId });
    await post(createPath, { ...order, clientOrderId: 'a' });
    const before = await post('/api/v4/trade-account/order/history', {
      market: 'BTC_USDT',
      clientOrderId: 'a',
    });
    paper.control.setPrice('BTC_USDT', parseDecimal('58900'));
    const after = await post('/api/v4/trade-account/order/history', {
      market: 'BTC_USDT',
      clientOrderId: 'a',
    });

    expect(before).toEqual({
      status: 200,
      body: {
        BTC_USDT: [
          {
            id: firstId,
            clientOrderId: 'a',
            side: 'sell',
            type: 'margin stop limit',
            ctime: 1790000000.123,
            ftime: 1790000005.123,
            dealMoney: '0',
            dealStock: '0',
            amount: '0.01',
            dealFee: '0',
            price: '58500',
            status: 'CANCELED',
            positionSide: 'BOTH',
            reduceOnly: false,
            postOnly: false,
            ioc: false,
            rpi: false,
            activationPrice: '59000',
            activationCondition: 'lte',
            activated: 0,
            feeAsset: 'USDT',
          },
        ],
      },
    });
    expect(after.body).toMatchObject({
      BTC_USDT: [
        { id: firstId + 1, status: 'FILLED', dealStock: '0.01', dealMoney: '589', dealFee: '0.589' },
        { id: firstId },
      ],
    });
  });

  test('refuses a history query without a match', async () => {
    await post(createPath, { ...order, clientOrderId: 'a' });

    expect(
      await post('/api/v4/trade-account/order/history', { market: 'BTC_USDT', clientOrderId: 'a' }),
    ).toEqual({
      status: 422,
      body: {
        code: 30,
        message: 'Validation failed',
        errors: { orderHistory: ['OrderHistory was not found.'] },
      },
    });
  });

  test('lists only the orders of the account', async () => {
    await post(createPath, { ...order, clientOrderId: 'a', stopLoss: '60000' });

    expect((await post('/api/v4/conditional-orders', {}, secondKey)).body).toMatchObject({ total: 0 });
    expect((await post('/api/v4/conditional-orders', {}, mainKey)).body).toMatchObject({ total: 1 });
    expect(
      (await post('/api/v4/order/cancel', { market: 'BTC_USDT', orderId: firstId }, secondKey)).status,
    ).toBe(400);
  });

  test('pages through conditional orders, newest first, and filters by market', async () => {
    for (let index = 0; index < 3; index += 1) await post(createPath, { ...order, stopLoss: '60000' });
    await post(createPath, {
      market: 'ETH_USDT',
      side: 'buy',
      amount: '1',
      price: '3100',
      activation_price: '3100',
      takeProfit: '3200',
    });
    const ids = (body: unknown) => (body as { records: { id: number }[] }).records.map(({ id }) => id);

    const page = await post('/api/v4/conditional-orders', { limit: 2, offset: 1 });
    const bitcoin = await post('/api/v4/conditional-orders', { market: 'BTC_USDT' });

    expect(page.body).toMatchObject({ limit: 2, offset: 1, total: 4 });
    expect(ids(page.body)).toEqual([firstId + 5, firstId + 3]);
    expect(bitcoin.body).toMatchObject({ total: 3 });
    expect(ids(bitcoin.body)).toEqual([firstId + 5, firstId + 3, firstId + 1]);
  });
});

describe.each(['documented', 'live'] as const)('in both dialects (%s)', (dialect) => {
  beforeEach(() => open(dialect));

  test('ping, time and the list of markets are public', async () => {
    expect(await get(paper.url, '/api/v4/public/ping')).toEqual({ status: 200, body: ['pong'] });
    expect(await get(paper.url, '/api/v4/public/time')).toEqual({ status: 200, body: { time: 1790000000 } });
    const markets = await get(paper.url, '/api/v4/public/markets?a=b');
    expect(markets).toMatchObject({
      status: 200,
      body: [
        {
          name: 'BTC_USDT',
          stock: 'BTC',
          money: 'USDT',
          stockPrec: '6',
          moneyPrec: '2',
          feePrec: '6',
          makerFee: '0.1',
          takerFee: '0.1',
          minAmount: '0.00001',
          minTotal: '5.05',
          maxTotal: '10000000',
          tradesEnabled: true,
          isCollateral: true,
          type: 'spot',
        },
        { name: 'ETH_USDT' },
        { name: 'SOL_USDT', stockPrec: '3', moneyPrec: '3' },
        {
          name: 'BTC_PERP',
          stock: 'BTC',
          money: 'USDT',
          makerFee: '0.01',
          takerFee: '0.035',
          type: 'futures',
        },
        { name: 'DBTC_DUSDT', stock: 'DBTC', money: 'DUSDT', isCollateral: false, type: 'spot' },
      ],
    });
  });

  test('the main balance is separate from the collateral that orders spend', async () => {
    expect(await post('/api/v4/main-account/balance')).toEqual({
      status: 200,
      body: {
        BTC: { main_balance: '1.25' },
        ETH: { main_balance: '20' },
        SOL: { main_balance: '0.5' },
        USDT: { main_balance: '25000.75' },
      },
    });
    expect((await post('/api/v4/main-account/balance', {}, secondKey)).body).toEqual({
      USDT: { main_balance: '500' },
    });
  });

  test('transfer fees are one record per currency', async () => {
    const fees = await post('/api/v4/main-account/fee');

    const none = { minFlex: '0', maxFlex: '0', percentFlex: '0' };
    expect(fees.status).toBe(200);
    expect(fees.body).toHaveLength(5);
    expect((fees.body as unknown[])[0]).toEqual({
      ticker: 'BTC',
      name: 'Bitcoin',
      can_deposit: true,
      can_withdraw: true,
      deposit: { ...none, fixed: '0', minAmount: '0.001', maxAmount: '0' },
      withdraw: { ...none, fixed: '0.0004', minAmount: '0.001', maxAmount: '50' },
    });
  });

  test('interest payments are listed newest first, at most 100, by plan and by ticker', async () => {
    const path = '/api/v4/main-account/smart/interest-payment-history';
    const recordsOf = (body: unknown) =>
      (body as { records: { planId: string; ticker: string; timestamp: number }[] }).records;
    const planId = '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a03';

    const first = await post(path);
    const last = await post(path, { limit: 100, offset: 200 });
    const byPlan = await post(path, { planId, limit: 2 });
    const byTicker = await post(path, { ticker: 'USDT' });

    expect(first.body).toMatchObject({ offset: 0, limit: 100 });
    expect(recordsOf(first.body)).toHaveLength(100);
    expect(recordsOf(first.body)[0]).toEqual({
      planId: '1b7c3a5e-0d52-4c3f-9a41-6f0d2f6f1a01',
      investmentId: '5e2f9d10-7a44-4b1e-8f3a-2c9b6d8e4101',
      amount: expect.stringMatching(/^\d+(\.\d+)?$/),
      ticker: 'USDT',
      timestamp: 1774396800,
    });
    expect(recordsOf(last.body)).toHaveLength(50);
    expect(recordsOf(last.body)[49]?.timestamp).toBe(1767225600);
    expect(recordsOf(byPlan.body).map((payment) => payment.planId)).toEqual([planId, planId]);
    expect(new Set(recordsOf(byTicker.body).map(({ ticker }) => ticker))).toEqual(new Set(['USDT']));
  });

  test('interest payments are refused to accounts that are not partners', async () => {
    expect(await post('/api/v4/main-account/smart/interest-payment-history', {}, secondKey)).toEqual({
      status: 403,
      body: { code: 0, message: 'This action is unauthorized.', errors: {} },
    });
  });
});
