import { describe, expect, test } from '@jest/globals';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { collateralBalance } from '../../lib/exchange/endpoints/collateral-balance.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { futures } from '../../lib/exchange/endpoints/futures.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { markets } from '../../lib/exchange/endpoints/markets.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import { ticker } from '../../lib/exchange/endpoints/ticker.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { sentBy } from './scripted-exchange.ts';

const envelope = { nonce: 1_594_297_865_000, nonceWindow: true };
const name = { market: 'BTC_USDT', clientOrderId: 'main-7f3a' };
const posts: readonly [
  string,
  string,
  Record<string, unknown>,
  (client: ExchangeClient) => Promise<unknown>,
][] = [
  [
    'a cancellation by order id',
    '/api/v4/order/cancel',
    { market: 'BTC_USDT', orderId: 4_180_284_841 },
    (client) => client.call(cancelOrder, { market: 'BTC_USDT', orderId: 4_180_284_841 }),
  ],
  [
    'a cancellation by client order id',
    '/api/v4/order/cancel',
    name,
    (client) => client.call(cancelOrder, name),
  ],
  [
    'a cancellation of a market',
    '/api/v4/order/cancel/all',
    { market: 'BTC_USDT' },
    (client) => client.call(cancelAll, { market: 'BTC_USDT' }),
  ],
  [
    'a cancellation of a market on two accounts',
    '/api/v4/order/cancel/all',
    { market: 'BTC_USDT', type: ['spot', 'margin'] },
    (client) => client.call(cancelAll, { market: 'BTC_USDT', type: ['spot', 'margin'] }),
  ],
  ['a lookup among open orders', '/api/v4/orders', name, (client) => client.call(openOrder, name)],
  [
    'a page of open orders',
    '/api/v4/orders',
    { market: 'BTC_USDT', limit: 100, offset: 90 },
    (client) => client.call(openOrder, { market: 'BTC_USDT', limit: 100, offset: 90 }),
  ],
  [
    'a lookup among ended orders',
    '/api/v4/trade-account/order/history',
    name,
    (client) => client.call(endedOrder, name),
  ],
  [
    'a lookup of fills',
    '/api/v4/trade-account/executed-history',
    { ...name, limit: 100, offset: 0 },
    (client) => client.call(executedHistory, { ...name, limit: 100, offset: 0 }),
  ],
  [
    'a list of conditional orders',
    '/api/v4/conditional-orders',
    { market: 'BTC_USDT', limit: 100, offset: 0 },
    (client) => client.call(conditionalOrders, { market: 'BTC_USDT', limit: 100, offset: 0 }),
  ],
  ['main balances', '/api/v4/main-account/balance', {}, (client) => client.call(mainBalance, {})],
  ['spot balances', '/api/v4/trade-account/balance', {}, (client) => client.call(tradeBalance, {})],
  [
    'collateral balances',
    '/api/v4/collateral-account/balance-summary',
    {},
    (client) => client.call(collateralBalance, {}),
  ],
  [
    'the collateral summary',
    '/api/v4/collateral-account/summary',
    {},
    (client) => client.call(collateralSummary, {}),
  ],
  [
    'open positions of all markets',
    '/api/v4/collateral-account/positions/open',
    {},
    (client) => client.call(openPositions, {}),
  ],
  [
    'open positions of one market',
    '/api/v4/collateral-account/positions/open',
    { market: 'BTC_PERP' },
    (client) => client.call(openPositions, { market: 'BTC_PERP' }),
  ],
];

describe('a private request', () => {
  test.each(posts)('for %s is sent exactly so', async (_, path, fields, send) => {
    const request = await sentBy(send);

    expect([request.method, request.path]).toEqual(['POST', path]);
    expect(JSON.parse(request.body ?? '')).toEqual({ request: path, ...envelope, ...fields });
  });
});

const gets: readonly [string, string, (client: ExchangeClient) => Promise<unknown>][] = [
  [
    'the order book',
    '/api/v4/public/orderbook/BTC_PERP?limit=20&level=0',
    (client) => client.call(orderBook, { market: 'BTC_PERP', limit: 20, level: 0 }),
  ],
  ['the markets', '/api/v4/public/markets', (client) => client.call(markets, {})],
  ['the last prices', '/api/v4/public/ticker', (client) => client.call(ticker, {})],
  ['the perpetual markets', '/api/v4/public/futures', (client) => client.call(futures, {})],
];

describe('a public request', () => {
  test.each(gets)('for %s is sent exactly so, without a key', async (_, path, send) => {
    const { method, path: sent, headers, body } = await sentBy(send);

    expect([method, sent, body]).toEqual(['GET', path, null]);
    expect(headers).toEqual({ 'User-Agent': 'trading-relay' });
  });
});
