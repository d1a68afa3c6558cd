import { describe, expect, test } from '@jest/globals';
import { readAnswer, type Verdict } from '../../lib/exchange/answer.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';

const withheld = ['public-key-0123456789', 'c2lnbmVkLXBheWxvYWQ=', 'a'.repeat(128)];

const accepted = {
  order_id: 4_180_284_841,
  client_order_id: 'main-7f3a',
  market: 'BTC_USDT',
  side: 'buy',
  type: 'stop limit',
  timestamp: 1_594_605_801.49815,
  deal_money: '0',
  deal_stock: '0',
  amount: '0.001',
  left: '0.001',
  deal_fee: '0',
  price: '40000',
  activation_price: '39900.5',
  status: 'NEW',
  stp: 'no',
  positionSide: 'LONG',
};

function judge(status: number, body: string, dialect: Dialect = 'documented'): Verdict<unknown> {
  return readAnswer(stopLimit, dialect, { kind: 'answered', status, body }, withheld);
}

function judgeOrder(changes: Record<string, unknown>): Verdict<unknown> {
  return judge(200, JSON.stringify({ ...accepted, ...changes }));
}

const refusal = '{"code":30,"message":"Validation failed","errors":{"amount":["Amount field is required."]}}';

describe('a refusal', () => {
  test.each([400, 401, 403, 422, 453])('is HTTP %i with an error of the exchange', (status) => {
    expect(judge(status, refusal)).toEqual({
      kind: 'rejected',
      httpStatus: status,
      exchangeCode: 30,
      message: 'Validation failed',
      errors: { amount: ['Amount field is required.'] },
    });
  });

  test.each([
    '{"code":10,"message":"Unauthorized request."}',
    '{"code":10,"message":"Unauthorized request.","errors":{}}',
    '{"code":10,"message":"Unauthorized request.","errors":[]}',
    '{"code":10,"message":"Unauthorized request.","errors":{},"trace":"x"}',
  ])('may lack details: %s', (body) => {
    expect(judge(401, body)).toEqual({
      kind: 'rejected',
      httpStatus: 401,
      exchangeCode: 10,
      message: 'Unauthorized request.',
      errors: {},
    });
  });

  test('is a path the exchange does not have, told by 404 and nothing else', () => {
    expect(judge(404, '')).toEqual({
      kind: 'rejected',
      httpStatus: 404,
      exchangeCode: null,
      message: 'no such path',
      errors: {},
    });
  });

  test('of a public endpoint has its own form', () => {
    const body = '{"success":false,"message":"Market is not available","params":["market"]}';

    const verdict = readAnswer(ping, 'live', { kind: 'answered', status: 422, body }, []);

    expect(verdict).toEqual({
      kind: 'rejected',
      httpStatus: 422,
      exchangeCode: null,
      message: 'Market is not available',
      errors: {},
    });
  });

  test('keeps texts alone of what a field was told', () => {
    const body =
      '{"code":30,"message":"m","errors":{"a":["one",2,null,"two"],"b":"three","c":{},"__proto__":["four"]}}';

    expect(judge(422, body)).toMatchObject({ errors: { a: ['one', 'two'], b: ['three'], c: [] } });
  });

  test('is cut to a size that a ledger can hold', () => {
    const errors = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`field-${index}`, Array(500).fill('x'.repeat(500))]),
    );

    const verdict = judge(422, JSON.stringify({ code: 30, message: 'y'.repeat(100_000), errors }));

    expect(verdict.kind).toBe('rejected');
    expect(JSON.stringify(verdict).length).toBeLessThan(25_000);
  });

  test('repeats neither key, payload nor signature, nor breaks a line', () => {
    const message = `bad signature\r\n${'a'.repeat(128)} of public-key-0123456789 over c2lnbmVkLXBheWxvYWQ=`;

    expect(judge(401, JSON.stringify({ code: 10, message }))).toMatchObject({
      message: 'bad signature [withheld] of [withheld] over [withheld]',
    });
  });
});

describe('an answer that proves nothing', () => {
  test.each([
    ['an error page', 403, '<html>Forbidden</html>'],
    ['a gateway error', 500, '{"error":["Internal server error."]}'],
    ['an error of the exchange under a gateway’s status', 500, refusal],
    ['an outage', 503, 'upstream connect error'],
    ['a redirection', 302, ''],
    ['another protocol', 101, ''],
    ['an unknown path with a body', 404, refusal],
    ['a blank unknown path', 404, ' '],
    ['a conflict', 409, refusal],
    ['a code that is no number', 422, '{"code":"30","message":"Validation failed","errors":{}}'],
    ['no code', 422, '{"message":"Validation failed","errors":{}}'],
    ['no message', 422, '{"code":30,"errors":{}}'],
    ['errors that are no fields', 422, '{"code":30,"message":"m","errors":["x"]}'],
    ['a public refusal of a private call', 422, '{"success":false,"message":"m","params":[]}'],
    ['a bare map of fields', 422, '{"market":["Market is not available."]}'],
    ['half a refusal', 422, refusal.slice(0, 40)],
    ['null', 400, 'null'],
    ['a success without a body', 200, ''],
    ['a success that is no JSON', 200, 'OK'],
    ['half a success', 200, JSON.stringify(accepted).slice(0, 100)],
    ['a refusal under the status of a success', 200, refusal],
    ['a success that says nothing', 204, ''],
  ])('%s (HTTP %i) is ambiguous', (_, status, body) => {
    expect(judge(status, body)).toMatchObject({ kind: 'ambiguous' });
  });

  test('a private refusal of a public call is ambiguous', () => {
    const answer = { kind: 'answered', status: 422, body: refusal } as const;

    expect(readAnswer(ping, 'live', answer, [])).toMatchObject({ kind: 'ambiguous' });
  });

  test('never shows what the body said', () => {
    const verdict = judge(200, '<html>private-things</html>');

    expect(JSON.stringify(verdict)).not.toContain('private-things');
  });
});

describe('HTTP 429', () => {
  test('in JSON with code 0 is about the nonce', () => {
    const body = '{"code":0,"message":"Too many requests.","errors":{}}';

    expect(judge(429, body)).toEqual({ kind: 'nonce_refused' });
  });

  test.each(['', 'Too Many Requests', '<html></html>', '{"code":5,"message":"slow down"}', '{"code":0}'])(
    'with %j is about the rate',
    (body) => {
      expect(judge(429, body)).toEqual({
        kind: 'rate_limited',
        reason: 'HTTP 429: the exchange takes no more requests for now',
      });
    },
  );
});

describe('an acceptance', () => {
  test.each([200, 201])('is HTTP %i with everything that is promised', (status) => {
    expect(judge(status, JSON.stringify(accepted))).toMatchObject({
      kind: 'accepted',
      result: { orderId: 4_180_284_841, status: 'open', type: 'stop_limit' },
    });
  });

  test('may say more than is known, and leave out or empty what does not apply', () => {
    const verdict = judgeOrder({
      novelty: { deep: [1] },
      activation_price: null,
      stp: null,
      positionSide: null,
      oto: null,
    });

    expect(verdict).toMatchObject({ kind: 'accepted', result: { clientOrderId: 'main-7f3a' } });
  });

  test.each([
    ['order_id', { order_id: undefined }, 'order_id: Invalid input: expected number, received undefined'],
    ['client_order_id', { client_order_id: undefined }, 'client_order_id: Invalid input'],
    ['deal_fee', { deal_fee: 0 }, 'deal_fee: Invalid input: expected string, received number'],
    ['a price', { price: 'cheap' }, 'price: must be a decimal number as text'],
    ['activation_price', { activation_price: 'x' }, 'activation_price: must be a decimal number as text'],
    ['a status', { status: 'PENDING' }, 'status: is a status this relay does not know'],
    ['an id beyond 53 bits', { order_id: 1e300 }, 'order_id: '],
    ['a time', { timestamp: '1594605801' }, 'timestamp: '],
    ['an exit', { oto: { otoId: 1, stopLoss: 'x' } }, 'oto.stopLoss: must be a decimal'],
  ])('that lacks a proper %s is ambiguous, and named in the wire’s own word', (_, changes, text) => {
    expect(judgeOrder(changes)).toMatchObject({
      kind: 'ambiguous',
      reason: expect.stringContaining(`HTTP 200, but the body is incomplete: ${text}`),
    });
  });

  test('in the other dialect is not taken for one', () => {
    const { order_id: orderId, client_order_id: clientOrderId, ...rest } = accepted;
    const body = JSON.stringify({ ...rest, orderId, clientOrderId });

    expect(judge(200, body)).toMatchObject({ reason: expect.stringContaining('order_id') });
  });

  test('names a field deep within a list', () => {
    const leg = { ...accepted, deal_money: undefined };
    const records = [{ id: 1, type: 'oto', conditionalOrder: leg }];
    const body = JSON.stringify({ limit: 50, offset: 0, total: 1, records });

    const verdict = readAnswer(conditionalOrders, 'documented', { kind: 'answered', status: 200, body }, []);

    expect(verdict).toMatchObject({
      reason: expect.stringContaining('records.0.conditionalOrder.deal_money: Invalid input'),
    });
  });

  test('names a kind of record that is not known', () => {
    const body = '{"limit":50,"offset":0,"total":1,"records":[{"id":1,"type":"trailing"}]}';

    const verdict = readAnswer(conditionalOrders, 'live', { kind: 'answered', status: 200, body }, []);

    expect(verdict).toMatchObject({ kind: 'ambiguous', reason: expect.stringContaining('records.0.type') });
  });
});

describe('a hostile answer', () => {
  test('cannot reach a prototype', () => {
    const body =
      '{"__proto__":{"mainBalance":"1"},"constructor":{"main_balance":"2"},"BTC":{"main_balance":"3"}}';

    const verdict = readAnswer(mainBalance, 'live', { kind: 'answered', status: 200, body }, []);

    if (verdict.kind !== 'accepted') throw new Error('the balance was not read');
    expect(Object.keys(verdict.result)).toEqual(['constructor', 'BTC']);
    expect(Object.getPrototypeOf(verdict.result)).toBe(Object.prototype);
  });

  test('that nests without end is ambiguous', () => {
    const body = `{"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

    expect(judge(200, body)).toEqual({ kind: 'ambiguous', reason: 'HTTP 200, but the body cannot be read' });
  });

  test('with a number beyond all bounds is ambiguous', () => {
    const body = JSON.stringify(accepted).replace('1594605801.49815', '1e999');

    expect(judge(200, body)).toMatchObject({
      kind: 'ambiguous',
      reason: expect.stringContaining('timestamp'),
    });
  });
});
