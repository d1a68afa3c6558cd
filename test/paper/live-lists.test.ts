import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, get, moveTo, type Post, refusal, secondKey } from './paper-client.ts';

const startMs = 1_790_000_000_000;
const clock = createManualClock(startMs);
const firstId = 10_000_000_001;
const createPath = '/api/v4/order/collateral/stop-limit';
const cancelPath = '/api/v4/order/cancel';
const openPath = '/api/v4/orders';
const historyPath = '/api/v4/trade-account/order/history';
const balancePath = '/api/v4/main-account/balance';
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  moveTo(clock, startMs);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

const order = { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '61500', activation_price: '61000' };
const ofEther = { ...order, market: 'ETH_USDT', amount: '1', price: '3100', activation_price: '3050' };

describe('open orders', () => {
  beforeEach(async () => {
    await post(createPath, order);
    await post(createPath, { ...ofEther, clientOrderId: 'ether' });
    await post(createPath, order, secondKey);
  });

  const idsOf = (body: unknown) => (body as { orderId: number }[]).map(({ orderId }) => orderId);

  test('of one market, or of all, are listed without an id, newest first', async () => {
    const ofMarket = await post(openPath, { market: 'BTC_USDT' });
    const all = await post(openPath);

    expect(idsOf(ofMarket.body)).toEqual([firstId]);
    expect(idsOf(all.body)).toEqual([firstId + 1, firstId]);
  });

  test('are found by the exchange’s order id', async () => {
    const found = await post(openPath, { market: 'BTC_USDT', orderId: firstId });
    const foundByText = await post(openPath, { market: 'BTC_USDT', orderId: String(firstId) });
    const missed = await post(openPath, { market: 'BTC_USDT', orderId: firstId + 1 });

    expect(idsOf(found.body)).toEqual([firstId]);
    expect(foundByText).toEqual(found);
    expect(missed).toEqual({ status: 200, body: [] });
  });

  test.each([{ orderId: firstId }, { clientOrderId: 'ether' }])(
    'are searched by id in one market only: %j',
    async (id) => {
      expect(await post(openPath, id)).toEqual(refusal('market', 'Market field is required.'));
    },
  );

  test('are refused for an order id that is not an integer', async () => {
    expect(await post(openPath, { market: 'BTC_USDT', orderId: 'seven' })).toEqual(
      refusal('orderId', 'OrderId field should be an integer.'),
    );
  });
});

describe('a stop that a gap triggered and left unfilled', () => {
  const sell = { market: 'BTC_USDT', side: 'sell', amount: '1', activation_price: '55000' };
  const gap = () => {
    moveTo(clock, startMs + 5000);
    paper.control.setPrice('BTC_USDT', parseDecimal('50000'));
  };
  const listed = { left: '1', status: 'OPEN', activated: 1 };

  test('stays in the open orders as activated, and fills once the price is back at its limit', async () => {
    await post(createPath, { ...sell, price: '54000' });
    const before = await post(openPath, { market: 'BTC_USDT' });

    gap();
    const after = await post(openPath, { market: 'BTC_USDT' });
    paper.control.setPrice('BTC_USDT', parseDecimal('54000'));

    expect(before.body).toMatchObject([{ activated: 0 }]);
    expect(after.body).toMatchObject([{ ...listed, type: 'margin stop limit', activation_price: '55000' }]);
    expect((await post(openPath, { market: 'BTC_USDT' })).body).toEqual([]);
    expect(paper.control.state().orders[0]).toMatchObject({ status: 'filled', filledNotional: '54000' });
  });

  test.each([
    [
      'that the exchange made for an entry',
      () =>
        post('/api/v4/order/collateral/market', {
          ...{ market: 'BTC_USDT', side: 'buy', amount: '1' },
          ...{ stopLoss: '55000', takeProfit: '66000' },
        }),
    ],
    [
      'of a pair of a client',
      () => post('/api/v4/order/collateral/oco', { ...sell, price: '66000', stop_limit_price: '54000' }),
    ],
  ])('stays in the list of pairs and in the open orders as activated: one %s', async (_, place) => {
    await place();
    const before = await post('/api/v4/conditional-orders', { market: 'BTC_USDT' });

    gap();
    const after = await post('/api/v4/conditional-orders', { market: 'BTC_USDT' });
    const open = await post(openPath, { market: 'BTC_USDT' });

    expect(before.body).toMatchObject({ records: [{ type: 'oco', stopLoss: { activated: 0 } }] });
    expect(after.body).toMatchObject({
      total: 1,
      records: [{ type: 'oco', stopLoss: listed, takeProfit: { left: '1', status: 'OPEN' } }],
    });
    expect(open.body).toMatchObject([{ type: 'margin limit' }, { type: 'margin stop limit', ...listed }]);
  });
});

describe('the history of orders', () => {
  /** Two of BTC_USDT, the second filled before the first was cancelled, and one of ETH_USDT. */
  beforeEach(async () => {
    await post(createPath, { ...order, price: '70000', activation_price: '65000', clientOrderId: 'first' });
    await post(createPath, { ...order, clientOrderId: 'second' });
    await post(createPath, { ...ofEther, clientOrderId: 'ether' });
    moveTo(clock, startMs + 1000);
    paper.control.setPrice('BTC_USDT', parseDecimal('61000'));
    moveTo(clock, startMs + 2000);
    await post(cancelPath, { market: 'ETH_USDT', clientOrderId: 'ether' });
    moveTo(clock, startMs + 3000);
    await post(cancelPath, { market: 'BTC_USDT', clientOrderId: 'first' });
    await post(createPath, { ...order, activation_price: '61100' });
  });

  test('lists all ended orders if no id is given, by market and newest first', async () => {
    const all = await post(historyPath);
    const ofMarket = await post(historyPath, { market: 'ETH_USDT' });

    expect(all.body).toMatchObject({
      BTC_USDT: [
        { id: firstId, status: 'CANCELED' },
        { id: firstId + 1, status: 'FILLED' },
      ],
      ETH_USDT: [{ id: firstId + 2 }],
    });
    expect(Object.keys(ofMarket.body as object)).toEqual(['ETH_USDT']);
  });

  test('is returned in pages of up to 500 orders over all markets', async () => {
    const page = await post(historyPath, { limit: 1, offset: 1 });
    const beyond = await post(historyPath, { limit: 500, offset: 3 });

    expect(page.body).toMatchObject({ ETH_USDT: [{ id: firstId + 2 }] });
    expect(Object.keys(page.body as object)).toEqual(['ETH_USDT']);
    expect(beyond).toEqual({ status: 200, body: {} });
    expect(await post(historyPath, { limit: 501 })).toEqual(
      refusal('limit', 'Limit should not be greater than 500.'),
    );
  });

  test('finds an order by either id; the order id has precedence', async () => {
    const byClientId = await post(historyPath, { clientOrderId: 'second' });
    const byBoth = await post(historyPath, { orderId: firstId, clientOrderId: 'second' });

    expect(byClientId.body).toMatchObject({ BTC_USDT: [{ id: firstId + 1 }] });
    expect(byBoth.body).toMatchObject({ BTC_USDT: [{ id: firstId }] });
  });

  test('is empty for an unknown order id, and refuses an unknown client order id', async () => {
    expect(await post(historyPath, { orderId: 1 })).toEqual({ status: 200, body: {} });
    expect(await post(historyPath, { clientOrderId: 'nobody' })).toEqual(
      refusal('orderHistory', 'OrderHistory was not found.'),
    );
  });
});

describe('the main balance of one ticker', () => {
  test.each([
    ['USDT', '25000.75'],
    ['UAH', '0'],
    ['NOPE', '0'],
  ])('%s is returned alone, as %s', async (ticker, amount) => {
    expect(await post(balancePath, { ticker })).toEqual({ status: 200, body: { main_balance: amount } });
  });

  test('is refused for a ticker that is not a text', async () => {
    expect(await post(balancePath, { ticker: 7 })).toEqual(refusal('ticker', 'validation.string', 0));
  });
});

describe('an order that asks for reduceOnly', () => {
  test('is refused with that field name', async () => {
    expect(await post(createPath, { ...order, reduceOnly: true })).toEqual({
      status: 422,
      body: {
        code: 116,
        message: 'Validation failed',
        errors: { reduceOnly: ["Reduce-only: Position doesn't exist or wrong side"] },
      },
    });
    expect(await post(createPath, { ...order, reduceOnly: 'yes' })).toEqual(
      refusal('reduceOnly', 'ReduceOnly field should be a boolean.'),
    );
    expect(paper.control.state().acceptedCreates).toBe(0);
  });

  test('with false is placed, and reported with false', async () => {
    expect(await post(createPath, { ...order, reduceOnly: false })).toMatchObject({
      status: 200,
      body: { reduceOnly: false },
    });
  });
});

describe('what is public', () => {
  test('lists the last price of every market', async () => {
    paper.control.setPrice('BTC_USDT', parseDecimal('61500'));
    paper.control.setPrice('ETH_USDT', parseDecimal('2900'));

    const { status, body } = await get(paper.url, '/api/v4/public/ticker');

    expect(status).toBe(200);
    expect(Object.keys(body as object)).toEqual([
      'BTC_USDT',
      'ETH_USDT',
      'SOL_USDT',
      'BTC_PERP',
      'DBTC_DUSDT',
    ]);
    expect(body).toMatchObject({
      BTC_USDT: {
        base_id: 0,
        quote_id: 0,
        last_price: '61500',
        // The trade that set the price.
        quote_volume: '0.615',
        base_volume: '0.00001',
        isFrozen: false,
        change: '2.5',
      },
      ETH_USDT: { last_price: '2900', change: '-3.33' },
    });
  });

  test('lists the assets with the limits of the transfer-fee table', async () => {
    paper.control.setFee('BTC', { canDeposit: false, withdraw: { minAmount: '0.002' } });

    const { status, body } = await get(paper.url, '/api/v4/public/assets');

    expect(status).toBe(200);
    expect(Object.keys(body as object)).toEqual(['BTC', 'ETH', 'SOL', 'USDT', 'UAH', 'DBTC', 'DUSDT']);
    expect(body).toMatchObject({
      BTC: {
        name: 'Bitcoin',
        unified_cryptoasset_id: 0,
        can_withdraw: true,
        can_deposit: false,
        min_withdraw: '0.002',
        max_withdraw: '50',
        maker_fee: '0.1',
        taker_fee: '0.1',
        min_deposit: '0.001',
        max_deposit: '0',
        currency_precision: 8,
        is_memo: false,
        memo: { deposit: false, withdraw: false },
      },
    });
  });

  test('says for every market whether it will be delisted, and whether it is a traditional-finance future', async () => {
    const { body } = await get(paper.url, '/api/v4/public/markets');

    for (const market of body as object[])
      expect(market).toMatchObject({ delistedAt: null, isTradFiFutures: false });
  });
});

test('neither assets nor last prices are in the written API', async () => {
  const documented = await startPaperExchange({ port: 0, dialect: 'documented', clock, walk: false });
  const answers = await Promise.all(
    ['assets', 'ticker'].map((name) => get(documented.url, `/api/v4/public/${name}`)),
  );
  await documented.close();

  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});

test('the written main balance ignores a ticker and returns all balances', async () => {
  const documented = await startPaperExchange({ port: 0, dialect: 'documented', clock, walk: false });
  const { body } = await createPost(documented.url)(balancePath, { ticker: 'BTC' });
  await documented.close();

  expect(body).toMatchObject({ BTC: { main_balance: '1.25' }, ETH: { main_balance: '20' } });
});
