import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, moveTo, type Post, refusal, secondKey } from './paper-client.ts';

/** 2026-09-21, 14:13:20 UTC. */
const startMs = 1_790_000_000_000;
const start = startMs / 1000;
const day = 86_400;
const clock = createManualClock(startMs);
const historyPath = '/api/v4/trade-account/order/history';
const dealsPath = '/api/v4/trade-account/executed-history';
const orderDealsPath = '/api/v4/trade-account/order';
const firstId = 10_000_000_001;
let paper: PaperExchange;
let post: Post;

/** One order is filled; a day later one is cancelled; another day later one of another market is filled. */
beforeEach(async () => {
  moveTo(clock, startMs);
  paper = await startPaperExchange({ port: 0, dialect: 'live', clock, walk: false });
  post = createPost(paper.url);
  await post('/api/v4/order/stock_market', { ...bitcoin, clientOrderId: 'filled' });
  moveTo(clock, startMs + day * 1000 + 500);
  await post('/api/v4/order/new', { ...bitcoin, price: '50000', clientOrderId: 'cancelled' });
  await post('/api/v4/order/cancel', { market: 'BTC_USDT', clientOrderId: 'cancelled' });
  moveTo(clock, startMs + 2 * day * 1000);
  await post('/api/v4/order/collateral/market', { market: 'BTC_PERP', side: 'sell', amount: '0.01' });
});

afterEach(() => paper.close());

const bitcoin = { market: 'BTC_USDT', side: 'buy', amount: '0.01' };

describe('the history of orders', () => {
  async function idsOf(query: object): Promise<readonly number[]> {
    const { body } = await post(historyPath, { ...query });
    return Object.values(body as Record<string, { id: number }[]>)
      .flat()
      .map(({ id }) => id - firstId);
  }

  test.each([
    ['ALL', [2, 1, 0]],
    ['FILLED', [2, 0]],
    ['CANCELED', [1]],
    ['PARTIALLY_FILLED', []],
  ])('lists the orders with the status %s', async (status, ids) => {
    expect((await idsOf({ status })).toSorted()).toEqual(ids.toSorted());
  });

  test.each([
    ['from a time on', { startDate: start + day }, [2, 1]],
    ['up to a time, that second included', { endDate: start + day, startDate: start - day }, [1, 0]],
    ['between two times', { startDate: start + 1, endDate: start + 2 * day - 1 }, [1]],
    ['up to a time in the future', { endDate: start + 90 * day }, [2, 1, 0]],
  ])('lists the orders that ended %s', async (_, query, ids) => {
    expect((await idsOf(query)).toSorted()).toEqual(ids.toSorted());
  });

  test('lists the latest 31 days unless the query names others', async () => {
    moveTo(clock, startMs + 32 * day * 1000);

    expect(await idsOf({})).toEqual([2, 1]);
    expect(await idsOf({ startDate: start, endDate: start + 1 })).toEqual([0]);
  });

  test('finds one order by its id whatever the other filters say', async () => {
    moveTo(clock, startMs + 100 * day * 1000);

    expect(await idsOf({ orderId: firstId, status: 'CANCELED', startDate: 1 })).toEqual([0]);
    expect(await idsOf({ market: 'BTC_USDT', clientOrderId: 'cancelled', status: 'FILLED' })).toEqual([1]);
  });

  test.each([
    [{ status: 'OPEN' }, 'status', /^Status field should contain only/],
    [{ startDate: '1' }, 'startDate', /^StartDate field should be an integer/],
    [{ endDate: 1.5 }, 'endDate', /^EndDate field should be an integer/],
    [{ startDate: start - 31 * day }, 'endDate', /not be longer than 31 days/],
    [{ startDate: start, endDate: start - 1 }, 'endDate', /^EndDate should be after StartDate/],
    // Six months before 2026-09-23 is 2026-03-23.
    [{ startDate: Date.UTC(2026, 2, 22, 23, 59, 59) / 1000 }, 'startDate', /not be older than 6 months/],
  ])('refuses the filter %j', async (query, key, text) => {
    const { status, body } = await post(historyPath, query);

    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 30, errors: { [key]: [expect.stringMatching(text)] } });
  });

  test('reaches back six months', async () => {
    const startDate = Date.UTC(2026, 2, 23) / 1000;

    const { status, body } = await post(historyPath, { startDate, endDate: startDate + day });

    expect({ status, body }).toEqual({ status: 200, body: {} });
  });
});

describe('the fills of an account', () => {
  const fill = {
    id: 20_000_000_001,
    clientOrderId: 'filled',
    time: start,
    side: 'buy',
    role: 2,
    amount: '0.01',
    price: '60000',
    deal: '600',
    fee: '0.00001',
    feeAsset: 'BTC',
    orderId: firstId,
  };

  test('are an array for one market', async () => {
    expect(await post(dealsPath, { market: 'BTC_USDT' })).toEqual({ status: 200, body: [fill] });
  });

  test('are an object by market for all markets, the newest first', async () => {
    const { body } = await post(dealsPath);

    expect(body).toMatchObject({
      BTC_PERP: [{ orderId: firstId + 2, side: 'sell', fee: '0.20999965', feeAsset: 'USDT' }],
      BTC_USDT: [fill],
    });
    expect(Object.keys(body as object)).toEqual(['BTC_PERP', 'BTC_USDT']);
  });

  test('are returned in pages over all markets', async () => {
    expect(Object.keys((await post(dealsPath, { limit: 1 })).body as object)).toEqual(['BTC_PERP']);
    expect((await post(dealsPath, { limit: 1, offset: 1 })).body).toEqual({ BTC_USDT: [fill] });
    expect(await post(dealsPath, { limit: 501 })).toEqual(
      refusal('limit', 'Limit should not be greater than 500.'),
    );
  });

  test('can be limited to a time', async () => {
    expect((await post(dealsPath, { market: 'BTC_USDT', startDate: start + 1 })).body).toEqual([]);
    expect((await post(dealsPath, { market: 'BTC_USDT', endDate: start })).body).toEqual([fill]);
  });

  test('of one order are none while it has none, and refused when there is no such order', async () => {
    const ofMarket = { market: 'BTC_USDT' };

    expect((await post(dealsPath, { ...ofMarket, clientOrderId: 'filled' })).body).toEqual([fill]);
    expect((await post(dealsPath, { ...ofMarket, clientOrderId: 'cancelled' })).body).toEqual([]);
    expect(await post(dealsPath, { ...ofMarket, clientOrderId: 'nobody' })).toEqual(
      refusal('orderHistory', 'OrderHistory was not found.'),
    );
  });

  test('are those of no other account', async () => {
    expect((await post(dealsPath, {}, secondKey)).body).toEqual({});
  });

  test('of one order by its id come with their page; an unknown order has none', async () => {
    const { side, orderId, ...record } = fill;

    expect(await post(orderDealsPath, { orderId: firstId })).toEqual({
      status: 200,
      body: { records: [{ ...record, dealOrderId: firstId, rpi: false }], offset: 0, limit: 50 },
    });
    expect((await post(orderDealsPath, { orderId: 7, limit: 10 })).body).toEqual({
      records: [],
      offset: 0,
      limit: 10,
    });
    expect((await post(orderDealsPath, { orderId: firstId }, secondKey)).body).toMatchObject({ records: [] });
    expect(await post(orderDealsPath)).toEqual(refusal('orderId', 'OrderId field is required.'));
  });
});
