import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { listAccountDeals, listEndedOrders, readListedOrder } from '../../lib/exchange/list-account.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { type Aftermath, noonMs, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
let client: ExchangeClient;
/** The parameters of every call, oldest first. */
let asked: Record<string, unknown>[];

beforeEach(async () => {
  relay = await openAftermath();
  asked = [];
  const sound = await relay.services.exchangeFor('main');
  client = override(sound, {
    call: (async (...parts: Parameters<ExchangeClient['call']>) => {
      asked.push({ ...(parts[1] as object) });
      return await sound.call(...parts);
    }) as ExchangeClient['call'],
  });
});
afterEach(() => relay.close());

const options = { timeoutMs: 2_000 };

const limitBuy = (id: string, limitPrice: string, ticker = 'BTCUSDT') =>
  JSON.stringify({ id, ticker, action: 'buy', orderType: 'limit', quantity: '0.01', limitPrice });

describe('the lists of an account', () => {
  test('hold all markets, each order and fill with its own', async () => {
    await relay.send(limitBuy('spent', '49000'));
    await relay.send(limitBuy('resting', '40000'));
    relay.setPrice('49000');

    const open = await listOpenOrders(client, null, options);
    const ended = await listEndedOrders(client, noonMs - 60_000, options);
    const deals = await listAccountDeals(client, noonMs - 60_000, options);

    const spent = (await relay.entry('spent')).orderId;
    expect(open).toMatchObject({ isWhole: true, orders: [{ market: 'BTC_USDT', status: 'open' }] });
    expect(ended).toMatchObject([{ orderId: spent, market: 'BTC_USDT', status: 'filled' }]);
    expect(deals).toMatchObject([{ orderId: spent, market: 'BTC_USDT', role: 'maker' }]);
    expect(asked).toEqual([
      { limit: 100, offset: 0 },
      { startDate: noonMs / 1000 - 60, limit: 100, offset: 0 },
      { startDate: noonMs / 1000 - 60, limit: 100, offset: 0 },
    ]);
  });

  test('hold nothing from before the time that is asked for', async () => {
    await relay.send(limitBuy('spent', '49000'));
    relay.setPrice('49000');
    relay.clock.advance(10_000);

    expect(await listEndedOrders(client, noonMs + 5_000, options)).toEqual([]);
    expect(await listAccountDeals(client, noonMs + 5_000, options)).toEqual([]);
  });

  test('are read page by page, with pages that overlap', async () => {
    const pages: unknown[] = [];
    const endless = override(client, {
      call: (async (_endpoint: unknown, page: { readonly offset: number }) => {
        pages.push(page.offset);
        const records = Array.from({ length: 100 }, (_, index) => ({
          id: page.offset + index + 1,
          orderId: 7,
          market: 'BTC_USDT',
        }));
        return { records, count: 100, oddities: [] };
      }) as ExchangeClient['call'],
    });

    const deals = await listAccountDeals(endless, noonMs, options);

    expect(pages).toEqual([0, 90, 180, 270, 360, 450, 540, 630, 720, 810]);
    expect(deals).toHaveLength(910);
  });
});

test('one order is read with all its fills, wherever it is listed', async () => {
  const { orderId } = await relay.send(limitBuy('spent', '49000'));
  const name = { market: 'BTC_USDT', orderId: orderId ?? 0 };
  expect(await readListedOrder(client, name, options)).toMatchObject({
    open: { orderId },
    ended: null,
    deals: [],
  });

  relay.setPrice('49000');

  expect(await readListedOrder(client, name, options)).toMatchObject({
    open: null,
    ended: { orderId, status: 'filled', market: 'BTC_USDT' },
    deals: [{ amount: expect.anything(), role: 'maker' }],
  });
  expect(await readListedOrder(client, { market: 'BTC_USDT', orderId: 7 }, options)).toEqual({
    open: null,
    ended: null,
    deals: [],
    isWhole: true,
  });
});

test('the history of a partner’s account leaves cancelled orders out, and has filled ones', async () => {
  await relay.send(limitBuy('spent', '49000'));
  await relay.send(limitBuy('dropped', '40000'));
  relay.setPrice('49000');
  await relay.send(JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' }));
  const statuses = async () =>
    (await listEndedOrders(client, noonMs - 60_000, options)).map(({ status }) => status).toSorted();
  expect(await statuses()).toEqual(['cancelled', 'filled']);

  relay.paper.control.listCancelled('main', false);
  expect(await statuses()).toEqual(['filled']);

  relay.paper.control.listCancelled('main', true);
  expect(await statuses()).toEqual(['cancelled', 'filled']);
});
