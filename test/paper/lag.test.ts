import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openTrading, type Trading } from '../../lib/paper/engine/trading.ts';
import { createPaperCore, type PaperCore, type PaperResponse } from '../../lib/paper/server/exchange.ts';
import { mainKey, signBody } from './paper-client.ts';

const startMs = 1_790_000_000_000;
const lagMs = 3000;
const market = 'BTC_USDT';
const clientOrderId = 'late-1';
const order = { market, side: 'buy', amount: '0.01', price: '61500', activation_price: '61000' };
const orderId = 10_000_000_001;

let trading: Trading;
let core: PaperCore;
let nonce: number;

beforeEach(() => {
  trading = openTrading(null);
  core = createPaperCore({ dialect: 'live', trading });
  nonce = 0;
});

/** @param afterMs the time of the request, from the start */
function ask(path: string, fields: object, afterMs: number, lag?: number): Promise<PaperResponse> {
  nonce += 1;
  const text = JSON.stringify({ ...fields, request: path, nonce: String(nonce) });
  const headers = signBody(text, mainKey);
  const request = { method: 'POST', target: path, headers, body: Buffer.from(text), atMs: startMs + afterMs };
  return core.handle(lag === undefined ? request : { ...request, lagMs: lag });
}

const create = (fields: object, afterMs = 0, lag = lagMs) =>
  ask('/api/v4/order/collateral/stop-limit', { ...order, ...fields }, afterMs, lag);
const cancel = (afterMs: number) => ask('/api/v4/order/cancel', { market, clientOrderId }, afterMs, lagMs);

function tradeAt(price: string, afterMs: number): void {
  const atMs = startMs + afterMs;
  trading.execute({ kind: 'trade', atMs, market, price: parseDecimal(price), volume: null });
}

async function listOpen(afterMs: number, lag?: number): Promise<unknown> {
  return (await ask('/api/v4/orders', { market, clientOrderId }, afterMs, lag)).body;
}

async function listEnded(afterMs: number, lag?: number): Promise<unknown> {
  return (await ask('/api/v4/trade-account/order/history', { market, clientOrderId }, afterMs, lag)).body;
}

async function listConditional(afterMs: number, lag?: number): Promise<unknown> {
  return (await ask('/api/v4/conditional-orders', {}, afterMs, lag)).body;
}

const notInHistory = { errors: { orderHistory: ['OrderHistory was not found.'] } };

describe('a list of open orders that lags', () => {
  test('shows an order once it is as old as the lag', async () => {
    await create({ clientOrderId });

    expect(await listOpen(0)).toMatchObject([{ orderId }]);
    expect(await listOpen(2999, lagMs)).toEqual([]);
    expect(await listEnded(2999, lagMs)).toMatchObject(notInHistory);
    expect(await listOpen(3000, lagMs)).toMatchObject([{ orderId, status: 'OPEN' }]);
  });

  test('hides nothing without a lag, even when the clock is set back', async () => {
    await create({ clientOrderId });

    expect(await listOpen(-1, 1)).toEqual([]);
    expect(await listOpen(-1)).toMatchObject([{ orderId }]);
  });

  test('shows neither of two orders of one client order id: one has ended, one is too young', async () => {
    await create({ clientOrderId });
    await cancel(1000);
    await create({ clientOrderId }, 2000);

    expect(await listOpen(4500, lagMs)).toEqual([]);
    expect(await listEnded(4500, lagMs)).toMatchObject({ BTC_USDT: [{ id: orderId, status: 'CANCELED' }] });
    expect(await listOpen(5000, lagMs)).toMatchObject([{ orderId: orderId + 1 }]);
  });
});

describe('a list of ended orders that lags', () => {
  test.each([
    ['cancelled', 'CANCELED', () => cancel(5000)],
    ['filled', 'FILLED', () => tradeAt('61200', 5000)],
  ])('shows an order that was %s late, and no list shows it until then', async (_, status, end) => {
    await create({ clientOrderId });
    await end();

    expect(await listOpen(5000, lagMs)).toEqual([]);
    expect(await listEnded(5000)).toMatchObject({ BTC_USDT: [{ id: orderId, status }] });
    expect(await listEnded(7999, lagMs)).toMatchObject(notInHistory);
    expect(await listOpen(7999, lagMs)).toEqual([]);
    expect(await listEnded(8000, lagMs)).toMatchObject({ BTC_USDT: [{ id: orderId, status }] });
  });

  test('shows only those orders that ended at least the lag ago', async () => {
    await create({ clientOrderId });
    await cancel(1000);
    await create({ clientOrderId }, 2000);
    await cancel(3000);

    expect(await listEnded(5999, lagMs)).toMatchObject({ BTC_USDT: [{ id: orderId }] });
    expect(await listEnded(6000, lagMs)).toMatchObject({
      BTC_USDT: [{ id: orderId + 1 }, { id: orderId }],
    });
  });
});

describe('a list of fills that lags', () => {
  async function listFills(afterMs: number, lag?: number): Promise<unknown> {
    const path = '/api/v4/trade-account/executed-history';
    return (await ask(path, { market, clientOrderId }, afterMs, lag)).body;
  }

  test('knows neither an order nor its fill until they are as old as the lag', async () => {
    await create({ clientOrderId });
    tradeAt('61200', 5000);

    expect(await listFills(2999, lagMs)).toMatchObject(notInHistory);
    expect(await listFills(7999, lagMs)).toEqual([]);
    expect(await listFills(8000, lagMs)).toMatchObject([{ orderId, clientOrderId }]);
    expect(await listFills(5000)).toMatchObject([{ orderId, clientOrderId }]);
  });
});

describe('a list of conditional orders that lags', () => {
  const planned = { stopLoss: '60000', takeProfit: '65000' };
  const none = { total: 0, records: [] };

  test('shows an order with planned take-profit and stop-loss once it is as old as the lag', async () => {
    await create(planned);

    expect(await listConditional(0)).toMatchObject({ total: 1 });
    expect(await listConditional(2999, lagMs)).toMatchObject(none);
    expect(await listConditional(3000, lagMs)).toMatchObject({ total: 1, records: [{ type: 'oto' }] });
  });

  test('shows a pair late, and until then neither the pair nor its primary order', async () => {
    await create(planned);
    tradeAt('61200', 5000);

    expect(await listConditional(7999, lagMs)).toMatchObject(none);
    expect(await listConditional(8000, lagMs)).toMatchObject({ total: 1, records: [{ type: 'oco' }] });
  });

  test('removes an ended order without lag', async () => {
    await create({ ...planned, clientOrderId });
    expect(await listConditional(5000, lagMs)).toMatchObject({ total: 1 });

    await cancel(5000);

    expect(await listConditional(5000, lagMs)).toMatchObject(none);
  });
});

describe('the list of spot balances', () => {
  const path = '/api/v4/trade-account/balance';
  const bitcoin = async (afterMs: number, lag?: number) =>
    (await ask(path, { ticker: 'BTC' }, afterMs, lag)).body;

  test('shows what an order has changed once that is as old as the lag', async () => {
    await ask('/api/v4/order/stock_market', { market, side: 'sell', amount: '1' }, 5000);

    expect(await bitcoin(5000)).toEqual({ available: '9', freeze: '0' });
    expect(await bitcoin(7999, lagMs)).toEqual({ available: '10', freeze: '0' });
    expect(await bitcoin(8000, lagMs)).toEqual({ available: '9', freeze: '0' });
  });

  test('shows what each of several orders holds, one after the other', async () => {
    const sell = { market, side: 'sell', amount: '1', price: '70000' };
    await ask('/api/v4/order/new', sell, 0);
    await ask('/api/v4/order/new', sell, 1000);

    expect(await bitcoin(3500, lagMs)).toEqual({ available: '9', freeze: '1' });
    expect(await bitcoin(4000, lagMs)).toEqual({ available: '8', freeze: '2' });
  });
});

describe('what never lags', () => {
  test('is a create: the client order id is in use at once', async () => {
    await create({ clientOrderId });

    expect(await create({ clientOrderId })).toMatchObject({
      httpStatus: 422,
      body: { errors: { clientOrderId: ['This client order id is already used by the current account.'] } },
    });
  });

  test('is a cancellation: it finds an order that no list shows yet', async () => {
    await create({ clientOrderId });

    expect(await cancel(1)).toMatchObject({ httpStatus: 200, body: { orderId, status: 'CANCELED' } });
  });
});
