import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { type Json, toJson } from '../../lib/base/json.ts';
import { createExchangeClient, type ExchangeClient } from '../../lib/exchange/client.ts';
import { type Dialect, dialects } from '../../lib/exchange/dialect.ts';
import type { Endpoint } from '../../lib/exchange/endpoint.ts';
import { cancelAll } from '../../lib/exchange/endpoints/cancel-all.ts';
import { cancelConditional } from '../../lib/exchange/endpoints/cancel-conditional.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { candles } from '../../lib/exchange/endpoints/candles.ts';
import { collateralBalance } from '../../lib/exchange/endpoints/collateral-balance.ts';
import { collateralSummary } from '../../lib/exchange/endpoints/collateral-summary.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { executedHistory } from '../../lib/exchange/endpoints/executed-history.ts';
import { fees } from '../../lib/exchange/endpoints/fees.ts';
import { futures } from '../../lib/exchange/endpoints/futures.ts';
import { interestPayments } from '../../lib/exchange/endpoints/interest-payments.ts';
import { limit } from '../../lib/exchange/endpoints/limit.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { market } from '../../lib/exchange/endpoints/market.ts';
import { markets } from '../../lib/exchange/endpoints/markets.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { orderBook } from '../../lib/exchange/endpoints/order-book.ts';
import { orderDeals } from '../../lib/exchange/endpoints/order-deals.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { platformStatus } from '../../lib/exchange/endpoints/platform-status.ts';
import { serverTime } from '../../lib/exchange/endpoints/server-time.ts';
import { spotLimit } from '../../lib/exchange/endpoints/spot-limit.ts';
import { spotMarket } from '../../lib/exchange/endpoints/spot-market.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import { spotStopLimit } from '../../lib/exchange/endpoints/spot-stop-limit.ts';
import { spotStopMarket } from '../../lib/exchange/endpoints/spot-stop-market.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { stopMarket } from '../../lib/exchange/endpoints/stop-market.ts';
import { ticker } from '../../lib/exchange/endpoints/ticker.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import { orderTypes } from '../../lib/model/order.ts';
import { endpointOfType } from '../../lib/orders/order-types.ts';
import { routes } from '../../lib/paper/server/routes.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';

/**
 * The request and response of one endpoint in one dialect, as on the wire, and the response in the model's
 * names.
 */
interface Conversation {
  readonly method: string;
  readonly path: string;
  readonly sent: Readonly<Record<string, Json>>;
  readonly response: Json;
  /** Set if it differs from the other dialect's. */
  readonly result?: Json;
}

type Fixture = Readonly<Record<Dialect, Conversation>> & { readonly result: Json };

const order = { market: 'BTC_USDT', clientOrderId: 'main-7f3a' };
const stop = {
  ...order,
  side: 'buy',
  amount: parseDecimal('0.0010'),
  price: parseDecimal('4e4'),
  activationPrice: parseDecimal('39900.5'),
  stopLoss: parseDecimal('30000'),
  takeProfit: parseDecimal('50000'),
  positionSide: 'LONG',
} as const;
const { activationPrice: _, ...plainLimit } = stop;
const bare = {
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('0.001'),
  clientOrderId: 'main-7f3a',
} as const;
const trigger = { activationPrice: parseDecimal('39900.5') };
const page = { planId: 'plan-7', ticker: 'USDT', limit: 2, offset: 100 };

const calls: Readonly<Record<string, (client: ExchangeClient) => Promise<unknown>>> = {
  ping: (client) => client.call(ping, {}),
  'server-time': (client) => client.call(serverTime, {}),
  'platform-status': (client) => client.call(platformStatus, {}),
  markets: (client) => client.call(markets, {}),
  'main-balance': (client) => client.call(mainBalance, {}),
  'collateral-balance': (client) => client.call(collateralBalance, {}),
  ticker: (client) => client.call(ticker, {}),
  fees: (client) => client.call(fees, {}),
  'interest-payments': (client) => client.call(interestPayments, page),
  'stop-limit': (client) => client.call(stopLimit, stop),
  limit: (client) => client.call(limit, plainLimit),
  'cancel-order': (client) => client.call(cancelOrder, { market: 'BTC_USDT', orderId: 4_180_284_841 }),
  'conditional-orders': (client) => client.call(conditionalOrders, { market: 'BTC_USDT' }),
  'open-order': (client) => client.call(openOrder, order),
  'ended-order': (client) => client.call(endedOrder, order),
  market: (client) => {
    const { price, ...marketOrder } = plainLimit;
    return client.call(market, marketOrder);
  },
  'stop-market': (client) => client.call(stopMarket, { ...bare, ...trigger, side: 'sell', reduceOnly: true }),
  'spot-limit': (client) => client.call(spotLimit, { ...bare, price: parseDecimal('40000'), ioc: true }),
  'spot-market': (client) => client.call(spotMarket, { ...bare, amount: parseDecimal('40') }),
  'spot-stock-market': (client) => client.call(spotStockMarket, { ...bare, side: 'sell' }),
  'spot-stop-limit': (client) =>
    client.call(spotStopLimit, { ...bare, ...trigger, price: parseDecimal('40000') }),
  'spot-stop-market': (client) =>
    client.call(spotStopMarket, { ...bare, ...trigger, amount: parseDecimal('40') }),
  'order-book': (client) => client.call(orderBook, { market: 'BTC_USDT', limit: 5, level: 0 }),
  'collateral-summary': (client) => client.call(collateralSummary, {}),
  'open-positions': (client) => client.call(openPositions, { market: 'BTC_PERP' }),
  'trade-balance': (client) => client.call(tradeBalance, {}),
  futures: (client) => client.call(futures, {}),
  'executed-history': (client) => client.call(executedHistory, { ...order, limit: 100, offset: 0 }),
  'order-deals': (client) => client.call(orderDeals, { orderId: 4_180_284_841, limit: 100, offset: 0 }),
  'cancel-conditional': (client) =>
    client.call(cancelConditional, { market: 'BTC_USDT', id: 117_703_764_513 }),
  candles: (client) =>
    client.call(candles, { market: 'BTC_USDT', interval: '1h', start: 1_594_166_400, limit: 2 }),
  'cancel-all': (client) => client.call(cancelAll, { market: 'BTC_USDT', type: ['margin'] }),
};

let server: ScriptedServer;
let client: ReturnType<typeof createExchangeClient>;

async function connect(dialect: Dialect, response: Json): Promise<void> {
  server = await startScriptedServer([{ status: 200, body: JSON.stringify(response) }]);
  client = createExchangeClient({
    address: server.url,
    dialect,
    credentials: { apiKey: 'key-1', apiSecret: 'secret-1' },
    clock: createManualClock(1_594_297_865_000),
    random: () => 0,
  });
}

afterEach(async () => {
  client.close();
  await server.close();
});

const creates = new Set(orderTypes.map((type) => endpointOfType(type).name));

/** The nonces of creates lie ahead of the clock in the live dialect. */
const envelopes: Readonly<Record<Dialect, (isCreate: boolean) => Readonly<Record<string, Json>>>> = {
  documented: () => ({ nonce: '1594297865000' }),
  live: (isCreate) => ({ nonce: isCreate ? 1_594_297_865_500 : 1_594_297_865_000, nonceWindow: true }),
};

describe.each(dialects)('in the %s dialect', (dialect) => {
  test.each(Object.keys(calls))('%s sends the wire’s field names and returns the model’s', async (name) => {
    const url = new URL(`../fixtures/exchange/${name}.json`, import.meta.url);
    const fixture: Fixture = JSON.parse(readFileSync(url, 'utf8'));
    const { method, path, sent, response, result = fixture.result } = fixture[dialect];
    await connect(dialect, response);

    const received = await calls[name]?.(client);

    expect(toJson(received)).toEqual(result);
    const [request] = server.seen;
    const isCreate = creates.has(name);
    expect([request?.method, request?.path]).toEqual([method, path]);
    if (method === 'GET') expect(request?.body).toBe('');
    else
      expect(JSON.parse(request?.body ?? '')).toEqual({
        request: path,
        ...envelopes[dialect](isCreate),
        ...sent,
      });
  });
});

test('an empty list of markets is not a result, so that it does not replace a stored list', async () => {
  await connect('live', []);

  const failure = { kind: 'ambiguous', reason: expect.stringContaining('must list at least one market') };
  await expect(client.call(markets, {})).rejects.toMatchObject({
    attempts: expect.arrayContaining([expect.objectContaining({ failure })]),
  });
});

/** What the relay does not call and other clients of the live service do. */
const servedToOthers = [
  'assets',
  'cancel-oco',
  'cancel-oto',
  'close-position',
  'closed-pnl',
  'collateral-amounts',
  'collateral-markets',
  'create-oco',
  'funding-history',
  'hedge-mode',
  'leverage',
  'market-fee',
  'modify-order',
  'oco-orders',
  'positions-history',
  'public-fee',
  'set-hedge-mode',
  'trades',
  'v1-ticker',
];

describe('every file of the endpoints', () => {
  const folder = new URL('../../lib/exchange/endpoints/', import.meta.url);
  const names = readdirSync(folder).map((file) => basename(file, '.ts'));

  async function load(name: string): Promise<Endpoint> {
    const exported = Object.values<Endpoint>(await import(new URL(`${name}.ts`, folder).href));
    expect(exported.map((endpoint) => endpoint.name)).toEqual([name]);
    return exported[0] as Endpoint;
  }

  test.each(names)('%s defines one endpoint of that name, which the paper exchange serves', async (name) => {
    const endpoint = await load(name);

    expect(routes.filter((route) => route.endpoint === endpoint)).toHaveLength(1);
  });

  test.each(names)('%s has a fixture and a call above', (name) => {
    expect(existsSync(new URL(`../fixtures/exchange/${name}.json`, import.meta.url))).toBe(true);
    expect(Object.keys(calls)).toContain(name);
  });

  test.each(names)('%s names the public page it was written from, and the day it was read', async (name) => {
    const { url, readOn } = (await load(name)).source;

    expect(url).toMatch(/^https:\/\/docs\.whitebit\.com\/[a-z0-9/-]+$/);
    expect(new Date(`${readOn}T00:00:00Z`).toISOString().slice(0, 10)).toBe(readOn);
  });

  test('is served by the paper exchange, and every fixture belongs to an endpoint', () => {
    const fixtures = readdirSync(new URL('../fixtures/exchange/', import.meta.url));

    const served = [...names, ...servedToOthers];
    expect(routes.map(({ endpoint }) => endpoint.name).sort()).toEqual(served.sort());
    expect(fixtures.map((file) => basename(file, '.json')).sort()).toEqual(names.toSorted());
  });

  test('that creates orders belongs to one order type', async () => {
    const endpoints = await Promise.all(names.map(load));

    const creates = endpoints.filter(({ repeatable }) => !repeatable).map(({ name }) => name);
    expect(creates.toSorted()).toEqual(orderTypes.map((type) => endpointOfType(type).name).sort());
  });
});

describe('a prepared request', () => {
  test('shows a dry run the wire fields without nonce and key', async () => {
    await connect('live', ['unused']);

    const { method, path, fields } = client.prepare(stopLimit, stop);

    expect({ method, path, fields }).toEqual({
      method: 'POST',
      path: '/api/v4/order/collateral/stop-limit',
      fields: {
        market: 'BTC_USDT',
        clientOrderId: 'main-7f3a',
        side: 'buy',
        amount: '0.001',
        price: '40000',
        activation_price: '39900.5',
        stopLoss: '30000',
        takeProfit: '50000',
        positionSide: 'LONG',
      },
    });
    expect(server.seen).toEqual([]);
  });
});
