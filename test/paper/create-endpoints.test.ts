import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, type Post, refusal } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

const base = { market: 'BTC_USDT', side: 'buy', amount: '1', clientOrderId: 'a' };
const limit = { ...base, price: '59000' };
const activation = { activation_price: '61000' };

/** What every answer has; the order waits or rests. */
const waiting = {
  orderId: 10_000_000_001,
  clientOrderId: 'a',
  market: 'BTC_USDT',
  side: 'buy',
  timestamp: 1_790_000_000,
  dealMoney: '0',
  dealStock: '0',
  amount: '1',
  left: '1',
  dealFee: '0',
  status: 'OPEN',
  stp: 'no',
};
const filled = { ...waiting, status: 'FILLED', dealMoney: '60000', dealStock: '1', left: '0' };
const stop = { activation_price: '61000', activationCondition: 'gte', activated: 0 };
const flags = { postOnly: false, ioc: false, rpi: false };
const position = { positionSide: 'BOTH', reduceOnly: false };
const spot = { feeAsset: 'BTC' };

describe('the answer to a create', () => {
  test.each([
    ['collateral/limit', limit, { ...waiting, type: 'margin limit', price: '59000', ...flags, ...position }],
    ['collateral/market', base, { ...filled, type: 'margin market', dealFee: '60', ...position }],
    [
      'collateral/stop-limit',
      { ...limit, ...activation },
      { ...waiting, type: 'margin stop limit', price: '59000', ...stop, ...position },
    ],
    [
      'collateral/trigger-market',
      { ...base, ...activation },
      { ...waiting, type: 'trigger margin market', ...stop, ...position },
    ],
    ['new', limit, { ...waiting, type: 'limit', price: '59000', ...flags, ...spot }],
    [
      'market',
      { ...base, amount: '60000' },
      { ...filled, amount: '60000', type: 'market', dealFee: '0.001', ...spot },
    ],
    ['stock_market', base, { ...filled, type: 'stock market', dealFee: '0.001', ...spot }],
    [
      'stop_limit',
      { ...limit, ...activation },
      { ...waiting, type: 'stop limit', price: '59000', ...stop, ...spot },
    ],
    [
      'stop_market',
      { ...base, amount: '100.5', ...activation },
      { ...waiting, amount: '100.5', left: '100.5', type: 'stop market', ...stop, ...spot },
    ],
  ])('of order/%s has the fields of its type', async (path, fields, body) => {
    expect(await post(`/api/v4/order/${path}`, fields)).toEqual({ status: 200, body });
  });

  test('reports the flags of the request', async () => {
    expect((await post('/api/v4/order/new', { ...limit, postOnly: true })).body).toMatchObject({
      postOnly: true,
      ioc: false,
    });
    const taken = { ...limit, clientOrderId: 'b', price: '60000', amount: '1.5', ioc: true, stp: 'cn' };
    expect((await post('/api/v4/order/collateral/limit', taken)).body).toMatchObject({
      ioc: true,
      stp: 'cn',
      status: 'CANCELED',
      dealStock: '1',
      left: '0.5',
    });
  });

  test('of an order that stops at the taker band says so', async () => {
    paper.control.setFunds('main', 'spot', 'USDT', parseDecimal('20000000'));

    const { body } = await post('/api/v4/order/market', { ...base, amount: '7000000' });

    expect(body).toMatchObject({ status: 'CANCELED_TAKER_BAND', amount: '7000000', dealStock: '102' });
  });
});

describe('a create is refused', () => {
  const maker = "This order couldn't be executed as a maker order and was canceled.";

  test.each([
    ['new', { ...limit, price: '60000', postOnly: true }, 13, 'postOnly', maker],
    ['collateral/limit', { ...limit, price: '60000', postOnly: true }, 14, 'postOnly', maker],
    [
      'new',
      { ...limit, postOnly: true, ioc: true },
      37,
      'ioc',
      'Either IOC or PostOnly flag in true state is allowed.',
    ],
    ['new', { ...limit, ioc: 1 }, 30, 'ioc', 'Ioc field should be a boolean.'],
    ['collateral/limit', { ...limit, amount: '100' }, 17, 'amount', 'Not enough balance.'],
    ['new', { ...limit, amount: '100' }, 32, 'amount', 'Not enough balance.'],
    [
      'collateral/market',
      { ...base, reduceOnly: true },
      116,
      'reduceOnly',
      "Reduce-only: Position doesn't exist or wrong side",
    ],
    [
      'collateral/market',
      { ...base, reduceOnly: true, stopLoss: '50000' },
      30,
      'reduceOnly',
      'ReduceOnly field is not available with stopLoss or takeProfit.',
    ],
    [
      'collateral/market',
      { ...base, takeProfit: '60000' },
      105,
      'takeProfit',
      'Take profit price is on the wrong side of 60000',
    ],
    [
      'collateral/market',
      { ...base, amount: '0.00008' },
      30,
      'total',
      'Total(amount * price) is less than 5.05',
    ],
    [
      'market',
      { ...base, amount: '5.04' },
      32,
      'amount',
      'Total amount should be no less than 5.05 + trade fee',
    ],
    ['market', { ...base, amount: '100.001' }, 32, 'amount', 'Min amount step = 0.01'],
    ['market', { ...base, side: 'sell', amount: '0.0000001' }, 32, 'amount', 'Min amount step = 0.000001'],
    ['new', { ...limit, market: 'BTC_PERP' }, 31, 'market', 'Market is not available.'],
    ['collateral/limit', { ...limit, market: 'DBTC_DUSDT' }, 31, 'market', 'Market is not available.'],
  ])('at order/%s with %j', async (path, fields, code, key, text) => {
    expect(await post(`/api/v4/order/${path}`, fields)).toEqual(refusal(key, text, code));
    expect(paper.control.state().orders).toEqual([]);
  });

  test('with the client order id of an open order of the market, on whatever path', async () => {
    await post('/api/v4/order/new', limit);

    expect(await post('/api/v4/order/collateral/market', base)).toEqual(
      refusal('clientOrderId', 'This client order id is already used by the current account.', 36),
    );
    expect((await post('/api/v4/order/collateral/market', { ...base, market: 'BTC_PERP' })).status).toBe(200);
  });
});

describe('the fault refuse_ioc', () => {
  const taking = { ...limit, price: '60000', ioc: true };

  test('refuses ioc on collateral limit orders, and nothing else, until it is cleared', async () => {
    paper.control.addFault({ fault: 'refuse_ioc', probability: 1 });
    const refused = refusal('ioc', 'Ioc field is not available for this order type.');

    expect(await post('/api/v4/order/collateral/limit', taking)).toEqual(refused);
    expect(await post('/api/v4/order/collateral/limit', taking)).toEqual(refused);
    expect(paper.control.state().orders).toEqual([]);
    expect((await post('/api/v4/order/collateral/limit', { ...taking, ioc: false })).status).toBe(200);
    expect((await post('/api/v4/order/new', taking)).status).toBe(200);

    paper.control.clearFaults();
    expect((await post('/api/v4/order/collateral/limit', taking)).status).toBe(200);
  });

  test('is not used up by requests without ioc', async () => {
    paper.control.addFault({ fault: 'refuse_ioc' });

    await post('/api/v4/order/collateral/limit', limit);

    expect((await post('/api/v4/order/collateral/limit', { ...taking, clientOrderId: 'b' })).status).toBe(
      422,
    );
    expect(paper.control.faults()).toEqual([]);
  });
});

test('the free demo pair trades on spot', async () => {
  const { body } = await post('/api/v4/order/market', { ...base, market: 'DBTC_DUSDT', amount: '60000' });

  expect(body).toMatchObject({ status: 'FILLED', dealStock: '1', feeAsset: 'DBTC' });
  expect(paper.control.state().accounts['main']?.spot).toMatchObject({
    DBTC: { available: '10.999' },
    DUSDT: { available: '940000' },
  });
});
