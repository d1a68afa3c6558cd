import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, moveTo, type Post, refusal, secondKey } from './paper-client.ts';

const startMs = 1_790_000_000_000;
const start = startMs / 1000;
const clock = createManualClock(startMs);
const account = '/api/v4/collateral-account';
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  moveTo(clock, startMs);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

describe('the spot balances', () => {
  const path = '/api/v4/trade-account/balance';

  beforeEach(() =>
    post('/api/v4/order/new', { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '50000' }),
  );

  test('are an object by ticker', async () => {
    const { body } = await post(path);

    expect(Object.keys(body as object)).toEqual(['USDT', 'BTC', 'ETH', 'SOL', 'DUSDT', 'DBTC']);
    expect(body).toMatchObject({
      USDT: { available: '999500', freeze: '500' },
      BTC: { available: '10', freeze: '0' },
    });
  });

  test('of one ticker are the balance alone', async () => {
    expect(await post(path, { ticker: 'USDT' })).toEqual({
      status: 200,
      body: { available: '999500', freeze: '500' },
    });
  });

  test('are refused for a ticker that does not exist', async () => {
    expect(await post(path, { ticker: 'NOPE' })).toEqual(refusal('ticker', 'Currency was not found.'));
    expect(await post(path, { ticker: 7 })).toEqual(refusal('ticker', 'Ticker field should be a string.'));
  });
});

describe('the collateral account', () => {
  beforeEach(async () => {
    await post(`${account}/leverage`, { leverage: 5 });
    await post('/api/v4/order/collateral/market', { market: 'BTC_PERP', side: 'sell', amount: '0.1' });
    paper.control.setPrice('BTC_PERP', parseDecimal('59000'));
  });

  test('has balances in units of each asset', async () => {
    expect(await post(`${account}/balance`)).toEqual({
      status: 200,
      // 0.035 % of 5999.99 USDT is the fee.
      body: { USDT: 999_997.9000035, BTC: 10, ETH: 100, SOL: 1000 },
    });
    expect((await post(`${account}/balance`, { ticker: 'BTC' })).body).toEqual({ BTC: 10 });
    expect((await post(`${account}/balance-summary`, { ticker: 'USDT' })).body).toMatchObject([
      { asset: 'USDT', balance: '999997.9000035', borrow: '0' },
    ]);
    expect(await post(`${account}/balance`, { ticker: 'NOPE' })).toEqual(
      refusal('ticker', 'ticker is invalid.'),
    );
  });

  test('is summed up in USDT: free margin is equity and profit less margin', async () => {
    expect(await post(`${account}/summary`)).toEqual({
      status: 200,
      body: {
        // 10 BTC, 100 ETH and 1000 SOL at their last prices are 1 050 000 USDT.
        equity: '2049997.9000035',
        // 0.1 at 59999.9 with leverage 5, rounded up to 0.1.
        margin: '1200',
        freeMargin: '2048897.8900035',
        unrealizedFunding: '0',
        pnl: '99.99',
        leverage: 5,
        marginFraction: '0.00058536',
        futuresEquity: '2049997.9000035',
        futuresFreeMargin: '2048897.8900035',
      },
    });
  });

  test('lists its open positions, short ones below zero', async () => {
    const position = {
      positionId: 30_000_000_001,
      market: 'BTC_PERP',
      openDate: start,
      modifyDate: start,
      amount: '-0.1',
      basePrice: '59999.9',
      liquidationPrice: null,
      liquidationState: null,
      pnl: '0',
      unrealizedPnl: '99.99',
      pnlPercent: '1.66',
      margin: '1200',
      freeMargin: '2048897.8900035',
      funding: '0',
      unrealizedFunding: '0',
      positionSide: 'BOTH',
      tpsl: null,
    };

    expect(await post(`${account}/positions/open`)).toEqual({ status: 200, body: [position] });
    expect((await post(`${account}/positions/open`, { market: 'BTC_PERP' })).body).toEqual([position]);
    expect((await post(`${account}/positions/open`, { market: 'BTC_USDT' })).body).toEqual([]);
    expect((await post(`${account}/positions/open`, {}, secondKey)).body).toEqual([]);
    expect(await post(`${account}/positions/open`, { market: 'NOPE' })).toEqual(
      refusal('market', 'Market is not available.', 31),
    );
  });

  describe('after a position was closed in two parts', () => {
    const closing = { market: 'BTC_PERP', side: 'buy', reduceOnly: true };
    const history = `${account}/positions/history`;
    const closedPnl = `${account}/positions/closed-pnl`;

    beforeEach(async () => {
      moveTo(clock, startMs + 10_000);
      await post('/api/v4/order/collateral/market', { ...closing, amount: '0.04' });
      moveTo(clock, startMs + 20_000);
      await post('/api/v4/order/collateral/market', { ...closing, amount: '0.06' });
    });

    test('lists what happened to it, the newest first', async () => {
      const { body } = await post(history, { market: 'BTC_PERP', positionId: 30_000_000_001 });

      expect(body).toMatchObject([
        { amount: '0', modifyDate: start + 20, orderDetail: { tradeAmount: '0.06' } },
        { amount: '-0.06', basePrice: '59999.9', orderDetail: { tradeAmount: '0.04', price: '59000' } },
        {
          positionId: 30_000_000_001,
          openDate: start,
          amount: '-0.1',
          realizedFunding: '0',
          orderDetail: { tradeFee: '2.0999965', realizedPnl: '-2.0999965', fundingFee: '0' },
          side: 'BOTH',
          isHedge: false,
        },
      ]);
      expect((await post(history, { positionId: 7 })).body).toEqual([]);
      expect((await post(history, { startDate: start + 1, endDate: start + 10 })).body).toMatchObject([
        { amount: '-0.06' },
      ]);
      expect((await post(history, { limit: 1, offset: 1 })).body).toMatchObject([{ amount: '-0.06' }]);
    });

    test('sums it up, with the trading fees deducted', async () => {
      expect(await post(closedPnl)).toEqual({
        status: 200,
        body: [
          {
            positionId: 30_000_000_001,
            market: 'BTC_PERP',
            // 99.99 less 4.1649965 of fees.
            grossPnl: '95.8250035',
            netPnl: '95.8250035',
            totalTradeFee: '4.1649965',
            totalFunding: '0',
            avgEntryPrice: '59999.9',
            avgExitPrice: '59000',
            closedSize: '0.1',
            amount: '0',
            side: 'BOTH',
            isHedge: false,
            openDate: start,
            closeDate: start + 20,
          },
        ],
      });
      expect((await post(closedPnl, { endDate: start + 19 })).body).toEqual([]);
      expect((await post(closedPnl, { market: 'ETH_USDT', startDate: start + 20 })).body).toHaveLength(1);
    });

    test.each([
      [{ startDate: start + 1, endDate: start }, 'endDate', 'EndDate should be after StartDate.'],
      [{ endDate: start + 22 }, 'endDate', 'EndDate should not be in the future.'],
      [{ limit: 101 }, 'limit', 'Limit should not be greater than 100.'],
    ])('refuses %j', async (query, key, text) => {
      expect(await post(history, query)).toEqual(refusal(key, text));
      expect(await post(closedPnl, query)).toEqual(refusal(key, text));
    });
  });

  test('has no funding', async () => {
    expect((await post(`${account}/funding-history`)).body).toEqual({ records: [], limit: 100, offset: 0 });
  });
});

test('pairs of orders are listed as an array with keys in snake case', async () => {
  const entry = { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '60000' };
  await post('/api/v4/order/collateral/limit', { ...entry, stopLoss: '50000', takeProfit: '70000' });

  const { body } = await post('/api/v4/oco-orders', { market: 'BTC_USDT' });

  expect(body).toMatchObject([
    {
      stop_loss: { market: 'BTC_USDT', side: 'sell', activation_price: '50000', activation_condition: 'lte' },
      take_profit: { market: 'BTC_USDT', side: 'sell', price: '70000', post_only: false },
    },
  ]);
  expect((await post('/api/v4/oco-orders', { market: 'ETH_USDT' })).body).toEqual([]);
});
