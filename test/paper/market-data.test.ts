import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';
import { createPaperCore } from '../../lib/paper/server/exchange.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, get, moveTo, type Post } from './paper-client.ts';

const startMs = 1_790_000_000_000;
const hourMs = 3_600_000;
const clock = createManualClock(startMs);
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  moveTo(clock, startMs);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

const trade = (price: string, volume: string) =>
  paper.control.setPrice('BTC_USDT', parseDecimal(price), parseDecimal(volume));
const bodyOf = async (path: string) => (await get(paper.url, path)).body;

describe('the order book', () => {
  const path = '/api/v4/public/orderbook/BTC_USDT';

  test('has the best price first, and the price and amount of each level as text', async () => {
    expect(await get(paper.url, `${path}?limit=2&level=0`)).toEqual({
      status: 200,
      body: {
        ticker_id: 'BTC_USDT',
        timestamp: 1_790_000_000,
        asks: [
          ['60000', '1'],
          ['60060', '1.04'],
        ],
        bids: [
          ['59999.99', '1'],
          ['59939.99', '1.04'],
        ],
      },
    });
  });

  test('holds the resting orders of the accounts', async () => {
    const order = { market: 'BTC_USDT', side: 'sell', amount: '0.5', price: '60060' };
    await post('/api/v4/order/new', order);
    await post('/api/v4/order/collateral/limit', { ...order, amount: '0.25', price: '60030' });

    expect(await bodyOf(`${path}?limit=3`)).toMatchObject({
      asks: [
        ['60000', '1'],
        ['60030', '0.25'],
        ['60060', '1.54'],
      ],
    });
  });

  test.each(['', '?limit=0', '?limit=100'])('has at most 100 levels on each side: "%s"', async (query) => {
    const { asks } = (await bodyOf(`${path}${query}`)) as { asks: unknown[] };

    expect(asks).toHaveLength(60);
  });

  test('is added up at coarser prices: asks are rounded up, bids down', async () => {
    expect(await bodyOf(`${path}?limit=2&level=4`)).toMatchObject({
      asks: [
        ['60000', '1'],
        ['60100', '1.04'],
      ],
      bids: [
        ['59900', '2.04'],
        ['59800', '2.2'],
      ],
    });
  });

  test.each([
    ['/api/v4/public/orderbook/NO_SUCH', { market: ['Market is not available.'] }],
    [`${path}?limit=ten`, { limit: ['The limit must be an integer.'] }],
    [`${path}?limit=101`, { limit: ['The limit may not be greater than 100.'] }],
    [`${path}?level=-1`, { level: ['The level must be an integer.'] }],
    ['/api/v4/public/trades/BTC_USDT?type=hold', { type: ["Type should be 'sell' or 'buy'."] }],
  ])('and trades are refused for what does not fit: %s', async (asked, body) => {
    expect(await get(paper.url, asked)).toEqual({ status: 422, body });
  });

  test('counts requests for all markets together', () => {
    const core = createPaperCore({ dialect: 'live', trading: openTrading(null) });
    const ask = (market: string) => {
      const target = `/api/v4/public/orderbook/${market}`;
      const request = { method: 'GET', target, headers: {}, body: Buffer.alloc(0), atMs: startMs };
      return core.admit(request).admitted;
    };

    const admitted = Array.from({ length: 602 }, (_, index) =>
      ask(index % 2 === 0 ? 'BTC_USDT' : 'ETH_USDT'),
    );

    expect(admitted.lastIndexOf(true)).toBe(599);
    expect(admitted.indexOf(false)).toBe(600);
  });

  test.each(['/api/v4/public/orderbook/', '/api/v4/public/orderbook/A/B'])(
    'has no other path: %s',
    async (asked) => {
      expect(await get(paper.url, asked)).toEqual({ status: 404, body: '' });
    },
  );
});

describe('the trades of a market', () => {
  test('are listed newest first, with the base amount under "quote_volume"', async () => {
    trade('60000', '0.5');
    moveTo(clock, startMs + 1500);
    await post('/api/v4/order/stock_market', { market: 'BTC_USDT', side: 'sell', amount: '0.1' });

    expect(await bodyOf('/api/v4/public/trades/BTC_USDT')).toMatchObject([
      {
        tradeID: 40_000_000_002,
        price: '59999.99',
        quote_volume: '0.1',
        base_volume: '5999.999',
        trade_timestamp: 1_790_000_001,
        type: 'sell',
        rpi: false,
      },
      { tradeID: 40_000_000_001, quote_volume: '0.5', base_volume: '30000' },
    ]);
    expect(await bodyOf('/api/v4/public/trades/BTC_USDT?type=sell')).toMatchObject([{ quote_volume: '0.1' }]);
  });
});

describe('the activity of a market', () => {
  const tickerOf = async () =>
    ((await bodyOf('/api/v4/public/ticker')) as Record<string, object>)['BTC_USDT'];

  test('is that of the last 24 hours', async () => {
    trade('61200', '1');
    moveTo(clock, startMs + 23 * hourMs);
    trade('60000', '2');

    expect(await tickerOf()).toMatchObject({ last_price: '60000', base_volume: '3', quote_volume: '181200' });
    moveTo(clock, startMs + 24 * hourMs);
    // The day now begins with the price of the trade that it no longer holds.
    expect(await tickerOf()).toMatchObject({ base_volume: '2', quote_volume: '120000', change: '-1.96' });
    moveTo(clock, startMs + 50 * hourMs);
    expect(await tickerOf()).toMatchObject({ base_volume: '0', quote_volume: '0', change: '0' });
  });

  test('is that of trades before the clock was set back as soon as it is right again', async () => {
    trade('61200', '1');
    moveTo(clock, startMs - 2 * hourMs);

    expect(await tickerOf()).toMatchObject({ base_volume: '0' });
    moveTo(clock, startMs);
    expect(await tickerOf()).toMatchObject({ base_volume: '1' });
  });

  test('is shown with the best prices by the older ticker', async () => {
    trade('61200', '1');
    trade('60600', '1');

    expect(await bodyOf('/api/v1/public/ticker?market=BTC_USDT')).toEqual({
      success: true,
      message: '',
      result: {
        bid: '60599.99',
        ask: '60600',
        open: '60000',
        high: '61200',
        low: '60000',
        last: '60600',
        volume: '2',
        deal: '121800',
        change: '1',
      },
    });
  });
});

test('perpetual markets are listed with their leverage, best prices and open interest', async () => {
  await post('/api/v4/order/collateral/market', { market: 'BTC_PERP', side: 'sell', amount: '0.5' });

  expect(await bodyOf('/api/v4/public/futures')).toMatchObject({
    success: true,
    result: [
      {
        ticker_id: 'BTC_PERP',
        stock_currency: 'BTC',
        money_currency: 'USDT',
        bid: '59999.9',
        ask: '60000',
        stock_volume: '0.5',
        open_interest: '0.5',
        funding_rate: '0',
        // The next of the times that are eight hours apart.
        next_funding_rate_timestamp: '1790006400000',
        brackets: { '10': 0, '50': 5_000_000, '100': 1_000_000 },
        max_leverage: 100,
        funding_interval_minutes: 480,
      },
    ],
  });
});

test('transfer fees are either fixed or a percentage', async () => {
  expect(await bodyOf('/api/v4/public/fee')).toMatchObject({
    BTC: { providers: [], withdraw: { min_amount: '0.001', max_amount: '50', fixed: '0.0004', flex: null } },
    USDT: { withdraw: { fixed: null, flex: { percent: '0.1', min_fee: '1', max_fee: '50' } } },
    UAH: { is_depositable: true, is_withdrawal: false, is_api_withdrawal: false },
  });
});

test('margin is traded on the spot markets that are collateral', async () => {
  expect(await bodyOf('/api/v4/public/collateral/markets')).toEqual({
    success: true,
    message: null,
    result: ['BTC_USDT', 'ETH_USDT', 'SOL_USDT'],
  });
});

test('the trading fees of an account are percentages', async () => {
  expect(await post('/api/v4/market/fee', { market: 'BTC_PERP' })).toEqual({
    status: 200,
    body: {
      error: null,
      taker: '0.1',
      maker: '0.1',
      futures_taker: '0.035',
      futures_maker: '0.01',
      rpi_maker_fee_premium: null,
      futures_rpi_maker_fee_premium: null,
      custom_fee: {},
    },
  });
});
