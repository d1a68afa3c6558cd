import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { summaryOf } from '../../lib/paper/engine/collateral.ts';
import { createExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, refusal, secondKey } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

const account = () => paper.control.state().accounts['main'];
const openIds = () =>
  paper.control
    .state()
    .orders.filter(({ status }) => status === 'open')
    .map(({ clientOrderId }) => clientOrderId);

const futures = { market: 'BTC_PERP', side: 'buy', amount: '1' };
const marketPath = '/api/v4/order/collateral/market';
const limitPath = '/api/v4/order/collateral/limit';
const leveragePath = '/api/v4/collateral-account/leverage';
const closePath = '/api/v4/collateral-account/position/close';
const cancelAllPath = '/api/v4/order/cancel/all';
const hedgePath = '/api/v4/collateral-account/hedge-mode';

describe('the leverage', () => {
  test('lowers the margin of positions and of resting orders, as far as the market allows', async () => {
    await post(marketPath, futures);
    await post(limitPath, { ...futures, market: 'BTC_USDT', price: '50000' });

    expect(await post(leveragePath, { leverage: 20 })).toEqual({ status: 200, body: { leverage: 20 } });

    expect(account()).toMatchObject({ leverage: 20, positions: { BTC_PERP: { margin: '3000' } } });
    // Margin pairs have at most 10, and the taker fee of 50 is reserved too.
    expect(account()?.collateral['USDT']?.reserved).toBe('5050');
  });

  test('is one of eight', async () => {
    for (const leverage of [0, 4, 101, '5', 2.5])
      expect(await post(leveragePath, { leverage })).toEqual(
        refusal('leverage', 'Leverage field should be one of 1, 2, 3, 5, 10, 20, 50, 100.'),
      );
  });

  test('cannot be lowered when the free margin does not allow it', async () => {
    await post(leveragePath, { leverage: 10 });
    await post(marketPath, { ...futures, amount: '60' });

    expect(await post(leveragePath, { leverage: 1 })).toEqual(refusal('leverage', 'Not enough balance.', 17));
    expect(account()).toMatchObject({ leverage: 10 });
    expect((await post(leveragePath, { leverage: 5 })).status).toBe(200);
  });

  test('can be set by the control, which says what is wrong', () => {
    paper.control.setLeverage('main', 50);

    expect(account()?.leverage).toBe(50);
    expect(() => paper.control.setLeverage('main', 4)).toThrow(
      'the leverage must be one of 1, 2, 3, 5, 10, 20, 50, 100',
    );
    expect(() => paper.control.setLeverage('third', 5)).toThrow('has no account "third"');
  });
});

describe('the summary of a collateral account', () => {
  test('counts every asset at its last price, and frees what no position or order needs', () => {
    const { equity, pnl, margin, freeMargin, marginFraction } = summaryOf(createExchangeState(), 'main');

    // 1 000 000 USDT, 10 BTC at 60 000, 100 ETH at 3000 and 1000 SOL at 150.
    expect([equity, pnl, margin, freeMargin, marginFraction].map(formatDecimal)).toEqual([
      '2050000',
      '0',
      '0',
      '2050000',
      '0',
    ]);
  });
});

describe('closing a position', () => {
  const placeProtected = () => post(marketPath, { ...futures, stopLoss: '55000', takeProfit: '66000' });

  test('sells it at the market, and cancels its stop-loss and take-profit', async () => {
    await placeProtected();
    await post(limitPath, { ...futures, price: '50000', clientOrderId: 'mine' });

    expect(await post(closePath, { market: 'BTC_PERP', positionId: 30_000_000_001 })).toEqual({
      status: 200,
      body: [],
    });

    expect(account()?.positions).toEqual({});
    expect(openIds()).toEqual(['mine']);
    expect(paper.control.state().orders.at(-1)).toMatchObject({
      type: 'market',
      side: 'sell',
      reduceOnly: true,
      filledNotional: '59999.9',
    });
  });

  test('sent twice, closes once', async () => {
    await placeProtected();
    const close = { market: 'BTC_PERP', positionId: 30_000_000_001 };

    await post(closePath, close);

    expect(await post(closePath, close)).toEqual(refusal('positionId', "position doesn't exist", 104));
    expect(paper.control.state().acceptedCreates).toBe(1);
    expect(account()?.positions).toEqual({});
  });

  test('buys a short position back, and leaves positions and exits of other markets', async () => {
    await post(marketPath, { ...futures, side: 'sell', stopLoss: '66000', takeProfit: '55000' });
    await post(marketPath, { ...futures, market: 'BTC_USDT', stopLoss: '55000' });

    await post(closePath, { market: 'BTC_PERP', positionId: 30_000_000_001 });

    expect(Object.keys(account()?.positions ?? {})).toEqual(['BTC_USDT']);
    const open = paper.control.state().orders.filter(({ status }) => status === 'open');
    expect(open.map(({ market, activationPrice }) => [market, activationPrice])).toEqual([
      ['BTC_USDT', '55000'],
    ]);
  });

  test('closes one side of hedge mode, and cancels its exits alone', async () => {
    paper.control.setHedgeMode('main', true);
    const long = { ...futures, positionSide: 'LONG', stopLoss: '55000' };
    await post(marketPath, long);
    await post(marketPath, { ...futures, side: 'sell', positionSide: 'SHORT', stopLoss: '66000' });

    await post(closePath, { market: 'BTC_PERP', positionId: 30_000_000_001, positionSide: 'LONG' });

    expect(Object.keys(account()?.positions ?? {})).toEqual(['BTC_PERP SHORT']);
    const open = paper.control.state().orders.filter(({ status }) => status === 'open');
    expect(open.map(({ positionSide }) => positionSide)).toEqual(['SHORT']);
  });

  test('has no bound of its price but the taker band: what lies beyond stays open, without its exits', async () => {
    await post(leveragePath, { leverage: 100 });
    for (const _ of [1, 2]) await post(marketPath, { ...futures, amount: '80' });
    await post(limitPath, { ...futures, amount: '1', price: '60000', stopLoss: '50000' });

    expect((await post(closePath, { market: 'BTC_PERP', positionId: 30_000_000_001 })).body).toEqual([]);

    expect(paper.control.state().orders.at(-1)).toMatchObject({ endReason: 'CANCELED_TAKER_BAND' });
    expect(Number(account()?.positions['BTC_PERP']?.amount)).toBeGreaterThan(0);
    expect(paper.control.state().orders.filter(({ status }) => status === 'open')).toEqual([]);
  });

  test.each([
    [{ market: 'BTC_PERP' }, 'positionId', 'PositionId field should be an integer.'],
    [{ market: 'BTC_PERP', positionId: 'one' }, 'positionId', 'PositionId field should be an integer.'],
    [{ positionId: 30_000_000_001 }, 'market', 'Market field is required.'],
  ])('is refused with %j', async (fields, key, text) => {
    await placeProtected();

    expect(await post(closePath, fields)).toEqual(refusal(key, text));
    expect(account()?.positions).toHaveProperty('BTC_PERP');
  });

  test('of another account is not found', async () => {
    await placeProtected();

    const asked = { market: 'BTC_PERP', positionId: 30_000_000_001 };
    expect(await post(closePath, asked, secondKey)).toEqual(
      refusal('positionId', "position doesn't exist", 104),
    );
    expect(account()?.positions).toHaveProperty('BTC_PERP');
  });

  test.each([
    ['that is gone', { market: 'BTC_PERP', positionId: 30_000_000_002 }],
    ['of another market', { market: 'BTC_USDT', positionId: 30_000_000_001 }],
  ])('finds none %s', async (_, fields) => {
    await placeProtected();

    expect(await post(closePath, fields)).toEqual(refusal('positionId', "position doesn't exist", 104));
    expect(account()?.positions).toHaveProperty('BTC_PERP');
  });
});

describe('cancelling all orders', () => {
  beforeEach(async () => {
    const low = { side: 'buy', amount: '1' };
    await post('/api/v4/order/new', { ...low, market: 'BTC_USDT', price: '50000', clientOrderId: 'spot' });
    await post(limitPath, { ...low, market: 'BTC_USDT', price: '50000', clientOrderId: 'margin' });
    await post(limitPath, { ...low, market: 'BTC_PERP', price: '50000', clientOrderId: 'futures' });
    await post('/api/v4/order/collateral/trigger-market', {
      ...low,
      market: 'ETH_USDT',
      activation_price: '3500',
      clientOrderId: 'stop',
    });
  });

  test.each([
    [{}, []],
    [{ market: 'BTC_USDT' }, ['futures', 'stop']],
    [{ type: ['spot'] }, ['margin', 'futures', 'stop']],
    [{ type: ['margin', 'futures'] }, ['spot']],
    [{ market: 'BTC_USDT', type: ['margin'] }, ['spot', 'futures', 'stop']],
    [{ positionSide: 'long' }, ['spot', 'margin', 'futures', 'stop']],
  ])('with %j leaves %j', async (fields, left) => {
    expect(await post(cancelAllPath, fields)).toEqual({ status: 200, body: [] });

    expect(openIds()).toEqual(left);
  });

  test.each([
    [{ type: 'spot' }, 30, 'type', 'The type must be an array.'],
    [{ type: ['swap'] }, 30, 'type', "Type field should contain only 'spot', 'margin' or 'futures' values."],
    [{ market: 'BTC_EUR' }, 31, 'market', 'Market is not available.'],
    [
      { positionSide: 'LONG' },
      30,
      'positionSide',
      "PositionSide field should contain only 'both', 'long' or 'short' values.",
    ],
  ])('is refused with %j', async (fields, code, key, text) => {
    expect(await post(cancelAllPath, fields)).toEqual(refusal(key, text, code));
    expect(openIds()).toHaveLength(4);
  });
});

describe('a pair or a planned take-profit', () => {
  test('is cancelled by its id', async () => {
    await post(limitPath, { ...futures, price: '50000', stopLoss: '49000', clientOrderId: 'planned' });
    await post(marketPath, { ...futures, stopLoss: '55000', takeProfit: '66000' });
    const [pair] = paper.control.state().ocos;
    const [oto] = paper.control.state().otos;

    await post('/api/v4/order/conditional-cancel', { market: 'BTC_PERP', id: pair?.ocoId });
    expect(openIds()).toEqual(['planned']);
    await post('/api/v4/order/oto-cancel', { market: 'BTC_PERP', otoId: oto?.otoId });

    expect(openIds()).toEqual([]);
  });

  test('is cancelled as a pair, and both legs are reported', async () => {
    await post(marketPath, { ...futures, stopLoss: '55000', takeProfit: '66000' });
    const [pair] = paper.control.state().ocos;

    const cancelled = await post('/api/v4/order/oco-cancel', { market: 'BTC_PERP', orderId: pair?.ocoId });

    expect(cancelled).toMatchObject({
      status: 200,
      body: {
        id: pair?.ocoId,
        stop_loss: { orderId: pair?.stopLossId, status: 'CANCELED', activation_price: '55000' },
        take_profit: { orderId: pair?.takeProfitId, status: 'CANCELED', price: '66000', post_only: false },
      },
    });
    expect(openIds()).toEqual([]);
  });

  test('that is not open is not found', async () => {
    const error = (key: string) => ({
      status: 400,
      body: {
        code: 2,
        message: 'Inner validation failed',
        errors: { [key]: ['Unexecuted order was not found.'] },
      },
    });

    expect(await post('/api/v4/order/conditional-cancel', { market: 'BTC_PERP', id: 7 })).toEqual(
      error('id'),
    );
    expect(await post('/api/v4/order/oto-cancel', { market: 'BTC_PERP', otoId: 7 })).toEqual(error('otoId'));
    for (const fields of [{ orderId: 7 }, { clientOrderId: 'a' }])
      expect(await post('/api/v4/order/oco-cancel', { market: 'BTC_PERP', ...fields })).toEqual(
        error('orderId'),
      );
  });
});

describe('the hedge mode', () => {
  test('is read and switched', async () => {
    expect(await post(hedgePath)).toEqual({ status: 200, body: { hedgeMode: false } });

    expect(await post(`${hedgePath}/update`, { hedgeMode: true })).toEqual({
      status: 200,
      body: { hedgeMode: true },
    });
    expect(await post(hedgePath)).toEqual({ status: 200, body: { hedgeMode: true } });
  });

  test('cannot change while there are orders or positions on a perpetual market', async () => {
    await post(limitPath, { ...futures, price: '50000' });

    expect(await post(`${hedgePath}/update`, { hedgeMode: true })).toEqual(
      refusal(
        'hedgeMode',
        'Position side cannot be changed if there exists futures positions or orders',
        113,
      ),
    );
    expect(await post(`${hedgePath}/update`, { hedgeMode: 'on' })).toEqual(
      refusal('hedgeMode', 'HedgeMode field should be a boolean.'),
    );
  });
});

describe('a balance set by the control', () => {
  test('replaces what the account holds, and keeps what orders reserve', async () => {
    await post('/api/v4/order/new', { market: 'BTC_USDT', side: 'buy', amount: '1', price: '50000' });

    paper.control.setFunds('main', 'spot', 'USDT', parseDecimal('70000'));
    paper.control.setFunds('main', 'collateral', 'SOL', parseDecimal('0'));

    expect(account()).toMatchObject({
      spot: { USDT: { available: '20000', reserved: '50000' } },
      collateral: { SOL: { available: '0', reserved: '0' } },
    });
    expect(() => paper.control.setFunds('main', 'spot', 'USDT', parseDecimal('49999'))).toThrow(
      'the spot balance of account "main" cannot be 49999 USDT: open orders reserve 50000; cancel them first',
    );
    expect(() => paper.control.setFunds('second', 'spot', 'USDT', parseDecimal('-1'))).toThrow(
      'a balance must not be below 0; -1 is',
    );
  });
});
