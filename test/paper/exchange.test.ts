import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { openTrading, type Trading } from '../../lib/paper/engine/trading.ts';
import {
  createPaperCore,
  encodeResponse,
  type PaperCore,
  type PaperRequest,
} from '../../lib/paper/server/exchange.ts';
import { describeState } from '../../lib/paper/server/state.ts';
import { type Key, mainKey, signBody } from './paper-client.ts';

const startMs = 1_790_000_000_000;
const createPath = '/api/v4/order/collateral/stop-limit';
const openPath = '/api/v4/orders';
const order = { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '61500', activation_price: '61000' };

let trading: Trading;
let core: PaperCore;
let nonce: number;

beforeEach(() => {
  trading = openTrading(null);
  core = createPaperCore({ dialect: 'live', trading });
  nonce = 0;
});

interface Sending {
  readonly atMs?: number;
  readonly key?: Key;
  readonly nonce?: number;
}

function signed(path: string, fields: Record<string, unknown>, sending: Sending = {}): PaperRequest {
  nonce += 1;
  const text = JSON.stringify({ ...fields, request: path, nonce: String(sending.nonce ?? nonce) });
  return {
    method: 'POST',
    target: path,
    headers: signBody(text, sending.key ?? mainKey),
    body: Buffer.from(text),
    atMs: sending.atMs ?? startMs,
  };
}

function ask(path: string, fields: Record<string, unknown>, sending: Sending = {}) {
  return core.handle(signed(path, fields, sending));
}

function publicly(target: string, atMs = startMs): PaperRequest {
  return { method: 'GET', target, headers: {}, body: Buffer.alloc(0), atMs };
}

describe('the exchange without HTTP', () => {
  test('accepts a signed order', async () => {
    const response = await ask(createPath, { ...order, clientOrderId: 'in-process-1' });

    expect(response).toMatchObject({
      httpStatus: 200,
      body: { orderId: 10_000_000_001, clientOrderId: 'in-process-1', status: 'OPEN', timestamp: 1790000000 },
    });
    expect(describeState(trading.state)).toMatchObject({
      acceptedCreates: 1,
      orders: [{ clientOrderId: 'in-process-1', status: 'open', createdAtMs: startMs }],
    });
  });

  test('trades at the price that is set', async () => {
    await ask(createPath, order);

    const market = 'BTC_USDT';
    const price = parseDecimal('61200');
    const { stored } = trading.execute({ kind: 'trade', atMs: startMs + 1, market, price, volume: null });
    await stored;

    expect(describeState(trading.state)).toMatchObject({
      prices: { BTC_USDT: '61200' },
      orders: [{ status: 'filled', updatedAtMs: startMs + 1 }],
    });
  });

  test('refuses a signature by the wrong secret', async () => {
    const response = await ask(createPath, order, {
      key: { apiKey: 'paper-key', apiSecret: 'paper-secret-2' },
    });

    expect(response).toEqual({ httpStatus: 401, body: { code: 10, message: 'Unauthorized request.' } });
    expect(describeState(trading.state).acceptedCreates).toBe(0);
  });

  test('refuses a nonce that is not greater than the last', async () => {
    await ask(createPath, order, { nonce: 7 });

    const response = await ask(createPath, order, { nonce: 7 });

    expect(response).toEqual({
      httpStatus: 429,
      body: { code: 0, message: 'Too many requests.', errors: {} },
    });
    expect(describeState(trading.state).acceptedCreates).toBe(1);
  });

  test('refuses with the texts of the live service', async () => {
    expect(await ask(createPath, { ...order, market: 'BTC_EUR' })).toEqual({
      httpStatus: 422,
      body: {
        code: 31,
        message: 'Validation failed',
        errors: { market: ['Market is not available.'] },
      },
    });
  });

  test.each(['/api/v4/public/pong', '/api/v4/orders', '/control/state'])('has no GET %s', async (target) => {
    expect(await core.handle(publicly(target))).toEqual({ httpStatus: 404, body: null });
  });

  test('finds the endpoint whatever the query string is', async () => {
    expect(await core.handle(publicly('/api/v4/public/time?x=/y'))).toEqual({
      httpStatus: 200,
      body: { time: 1_790_000_000 },
    });
  });

  test('counts requests by the times they carry', async () => {
    const statusAt = async (atMs: number) =>
      (await core.handle(publicly('/api/v4/public/ping', atMs))).httpStatus;

    const withinLimit = await Promise.all(Array.from({ length: 2000 }, () => statusAt(startMs)));

    expect(new Set(withinLimit)).toEqual(new Set([200]));
    expect(await core.handle(publicly('/api/v4/public/ping', startMs + 9999))).toEqual({
      httpStatus: 429,
      body: 'Too Many Requests',
    });
    expect(await statusAt(startMs + 10_000)).toBe(200);
  });

  test('changes nothing on admitting a request, only on serving it', async () => {
    const admission = core.admit(signed(createPath, order));

    expect(admission).toMatchObject({ admitted: true, endpoint: { name: 'stop-limit' } });
    expect(describeState(trading.state).acceptedCreates).toBe(0);
    if (admission.admitted) await admission.serve();
    expect(describeState(trading.state).acceptedCreates).toBe(1);
  });

  test('gives the same responses to the same requests', async () => {
    const requests = [
      signed(createPath, { ...order, clientOrderId: 'same-1' }),
      signed(createPath, { ...order, clientOrderId: 'same-1' }, { atMs: startMs + 5 }),
      signed(openPath, { market: 'BTC_USDT', clientOrderId: 'same-1' }, { atMs: startMs + 10 }),
    ];
    const play = async () => {
      const twin = createPaperCore({ dialect: 'live', trading: openTrading(null) });
      const answers = [];
      for (const request of requests) answers.push(encodeResponse(await twin.handle(request)));
      return answers;
    };

    const answers = await play();

    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200]);
    expect(await play()).toEqual(answers);
  });
});

test.each([
  ['a text unchanged', 'Too Many Requests', 'Too Many Requests'],
  ['null as an empty body', null, ''],
  ['anything else as JSON', ['pong'], '["pong"]'],
])('a response carries %s', (_, body, text) => {
  expect(encodeResponse({ httpStatus: 200, body })).toEqual({ status: 200, body: text });
});
