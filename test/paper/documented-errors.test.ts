import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { readResponse } from '../../lib/exchange/response.ts';
import { openTrading } from '../../lib/paper/engine/trading.ts';
import { createPaperCore } from '../../lib/paper/server/exchange.ts';
import { type PaperExchange, startPaperExchange } from '../../lib/paper/server/server.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createPost, get, mainKey, type Post, receive, refusal, signBody } from './paper-client.ts';

const clock = createManualClock(1_790_000_000_000);
const createPath = '/api/v4/order/collateral/stop-limit';
const cancelPath = '/api/v4/order/cancel';
const feePath = '/api/v4/main-account/fee';
const interestPath = '/api/v4/main-account/smart/interest-payment-history';
let paper: PaperExchange;
let post: Post;

beforeEach(async () => {
  paper = await startPaperExchange({ port: 0, dialect: 'documented', clock, walk: false });
  post = createPost(paper.url);
});

afterEach(() => paper.close());

const order = { market: 'BTC_USDT', side: 'buy', amount: '0.01', price: '61500', activation_price: '61000' };

describe('a refused order has code 30 and the documented parameter names', () => {
  test.each<[Record<string, unknown>, string, string]>([
    [{ market: 'XYZ_USDT' }, 'market', 'Market is not available.'],
    [{ amount: 'much' }, 'amount', 'Amount field should be numeric string or number.'],
    [{ amount: '100' }, 'amount', 'Not enough balance.'],
    [{ amount: '0.00008' }, 'amount', 'Total(amount * price) is less than 5.05'],
    [{ price: '0' }, 'price', 'Price should be greater than 0.'],
    [{ activation_price: '-1' }, 'activation_price', 'Activation price should be greater than 0.'],
    [
      { activation_price: '60000' },
      'activation_price',
      'Activation price should not be equal to the last price',
    ],
    [{ client_order_id: 7 }, 'client_order_id', 'ClientOrderId field should be a string.'],
    [{ takeProfit: '61000' }, 'takeProfit', 'Take profit price is on the wrong side of 61500'],
    [
      { market: 'BTC_PERP', positionSide: 'LONG' },
      'positionSide',
      "Order's position side does not match user's setting",
    ],
  ])('%j', async (fields, key, text) => {
    expect(await post(createPath, { ...order, ...fields })).toEqual(refusal(key, text));
  });

  test('with a client order id that is in use', async () => {
    await post(createPath, { ...order, client_order_id: 'a' });

    expect(await post(createPath, { ...order, client_order_id: 'a' })).toEqual(
      refusal('client_order_id', 'This client order id is already used by the current account.'),
    );
  });
});

describe('a refused cancellation has the documented parameter names', () => {
  test.each([
    [{}, 'OrderId field is required.'],
    [{ order_id: '1' }, 'OrderId field should be an integer.'],
    [{ order_id: 1, client_order_id: 'a' }, 'Only one of OrderId and ClientOrderId should be set.'],
  ])('%j', async (fields, text) => {
    expect(await post(cancelPath, { market: 'BTC_USDT', ...fields })).toEqual(refusal('order_id', text));
  });

  test('of an order that is not open', async () => {
    expect(await post(cancelPath, { market: 'BTC_USDT', order_id: 1 })).toEqual({
      status: 400,
      body: {
        code: 2,
        message: 'Inner validation failed',
        errors: { order_id: ['Unexecuted order was not found.'] },
      },
    });
  });
});

test('interest payments are refused with HTTP 400 and the invalid parameters', async () => {
  expect(await post(interestPath, { planId: 'none' })).toEqual({
    status: 400,
    body: { code: 0, message: 'Validation failed', errors: { planId: ['The selected planId is invalid.'] } },
  });
});

describe('a nonce', () => {
  const withNonce = async (nonce: unknown) => {
    const body = JSON.stringify({ request: feePath, nonce });
    const headers = signBody(body, mainKey);
    return receive(await fetch(`${paper.url}${feePath}`, { method: 'POST', body, headers }));
  };
  const used = { status: 429, body: { code: 0, message: 'Too many requests.', errors: {} } };

  test.each([undefined, null, ''])('that is missing (%j) is refused as missing', async (nonce) => {
    expect(await withNonce(nonce)).toEqual(refusal('nonce', 'Nonce field is required.'));
  });

  test.each([1_790_000_000_000, true])(
    'that is not a text (%j) is refused for that reason',
    async (nonce) => {
      expect(await withNonce(nonce)).toEqual(refusal('nonce', 'Nonce field should be a string.'));
    },
  );

  test.each(['7', '6', '007'])('must increase where it is a number: %s is refused after 7', async (nonce) => {
    expect((await withNonce('7')).status).toBe(200);

    expect(await withNonce(nonce)).toEqual(used);
    expect((await withNonce('8')).status).toBe(200);
  });

  test('may be any other text that was not used before', async () => {
    expect((await withNonce('b-2')).status).toBe(200);
    expect((await withNonce('a-1')).status).toBe(200);

    expect(await withNonce('b-2')).toEqual(used);
  });
});

describe('every body is JSON, in the form of private or public endpoints:', () => {
  const tooMany = 'Too Many Requests';

  test('an unknown address', async () => {
    expect(await post('/api/v4/order/collateral/market')).toEqual({
      status: 404,
      body: { code: 404, message: 'Not Found', errors: {} },
    });
    expect(await get(paper.url, createPath)).toMatchObject({ status: 404, body: { code: 404, errors: {} } });
    expect(await get(paper.url, '/api/v4/public/nothing')).toEqual({
      status: 404,
      body: { success: false, message: 'Not Found', params: [] },
    });
  });

  test('a body that is too large', async () => {
    const response = await fetch(`${paper.url}${feePath}`, { method: 'POST', body: 'x'.repeat(65_537) });

    expect(await receive(response)).toEqual({
      status: 413,
      body: { code: 413, message: 'Payload Too Large', errors: {} },
    });
  });

  test('a request beyond the rate limit', async () => {
    const core = createPaperCore({ dialect: 'documented', trading: openTrading(null) });
    const unsigned = { method: 'POST', target: feePath, headers: {}, body: Buffer.from('{}'), atMs: 0 };
    for (let count = 0; count < 1000; count += 1) core.admit(unsigned);

    expect(await core.handle(unsigned)).toEqual({
      httpStatus: 429,
      body: { code: 429, message: tooMany, errors: {} },
    });
  });

  test('a wrong signature, which names no parameter', async () => {
    const response = await fetch(`${paper.url}${feePath}`, { method: 'POST', body: '{}' });

    expect(await receive(response)).toEqual({
      status: 401,
      body: { code: 10, message: 'Unauthorized request.', errors: {} },
    });
  });

  test.each([
    ['rate_429', { success: false, message: tooMany, params: [] }],
    ['nonce_429', { success: false, message: 'Too many requests.', params: [] }],
  ] as const)('the fault %s, at a public endpoint', async (fault, body) => {
    paper.control.addFault({ fault, endpoint: 'ping' });

    expect(await get(paper.url, '/api/v4/public/ping')).toEqual({ status: 429, body });
  });

  test.each([
    ['rate_429', 429, { code: 429, message: tooMany, errors: {} }],
    ['nonce_429', 429, { code: 0, message: 'Too many requests.', errors: {} }],
    [
      'id_used_after',
      422,
      refusal('client_order_id', 'This client order id is already used by the current account.').body,
    ],
  ] as const)('the fault %s, at a private endpoint', async (fault, status, body) => {
    paper.control.addFault({ fault, endpoint: 'stop-limit' });

    expect(await post(createPath, order)).toEqual({ status, body });
  });
});

describe('endpoints that only the live service has are not served', () => {
  test.each([
    '/api/v4/orders',
    '/api/v4/trade-account/order/history',
    '/api/v4/collateral-account/balance-summary',
    '/api/v4/order/collateral/limit',
  ])('%s', async (path) => {
    expect((await post(path, { market: 'BTC_USDT' })).status).toBe(404);
  });

  test('except the list of markets and the time, which the relay reads in both dialects', async () => {
    expect((await get(paper.url, '/api/v4/public/markets')).status).toBe(200);
    expect((await get(paper.url, '/api/v4/public/time')).status).toBe(200);
  });
});

describe('the client reads', () => {
  const read = (status: number, body: unknown, endpoint: typeof stopLimit | typeof cancelOrder = stopLimit) =>
    readResponse<typeof stopLimit | typeof cancelOrder>(
      endpoint,
      'documented',
      { kind: 'answered', status, body: JSON.stringify(body) },
      [],
    );

  test('an unknown path as a refusal, when the body has the exchange’s own form', async () => {
    const { status, body } = await post('/api/v4/nothing');

    expect(read(status, body, cancelOrder)).toMatchObject({
      kind: 'rejected',
      httpStatus: 404,
      message: 'Not Found',
    });
  });

  test('a client order id in use as ambiguous, not as a refusal', async () => {
    await post(createPath, { ...order, client_order_id: 'a' });
    const { status, body } = await post(createPath, { ...order, client_order_id: 'a' });

    expect(read(status, body)).toMatchObject({ kind: 'ambiguous' });
  });

  test('the rate limit and a refused nonce as different outcomes', async () => {
    paper.control.addFault({ fault: 'rate_429' });
    const limited = await post(createPath, order);
    paper.control.addFault({ fault: 'nonce_429' });
    const turnedAway = await post(createPath, order);

    expect(read(limited.status, limited.body).kind).toBe('rate_limited');
    expect(read(turnedAway.status, turnedAway.body).kind).toBe('nonce_refused');
  });

  test('a refusal of a public endpoint', async () => {
    paper.control.addFault({ fault: 'refuse', endpoint: 'ping' });
    const { status, body } = await get(paper.url, '/api/v4/public/ping');
    const response = { kind: 'answered', status, body: JSON.stringify(body) } as const;

    expect(readResponse(ping, 'documented', response, [])).toMatchObject({
      kind: 'rejected',
      httpStatus: 422,
    });
  });
});
