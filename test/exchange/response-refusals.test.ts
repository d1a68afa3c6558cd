import { describe, expect, test } from '@jest/globals';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { ping } from '../../lib/exchange/endpoints/ping.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { describeFailure, ExchangeError, type Failure, isOrderNotOpen } from '../../lib/exchange/errors.ts';
import { readResponse, type Verdict } from '../../lib/exchange/response.ts';

const redacted = ['public-key-0123456789', 'c2lnbmVkLXBheWxvYWQ=', 'a'.repeat(128)];

function judge(status: number, body: string): Verdict<unknown> {
  return readResponse(stopLimit, 'live', { kind: 'answered', status, body }, redacted);
}

const refusal = '{"code":30,"message":"Validation failed","errors":{"amount":["Amount field is required."]}}';

describe('a refusal', () => {
  test.each([400, 401, 403, 422, 451, 453])(
    'is HTTP %i with an error in the exchange’s own form',
    (status) => {
      expect(judge(status, refusal)).toEqual({
        kind: 'rejected',
        httpStatus: status,
        exchangeCode: 30,
        message: 'Validation failed',
        errors: { amount: ['Amount field is required.'] },
      });
    },
  );

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

  test('can be a 404 with an error body in the documented dialect alone, and not of a create', () => {
    const body = '{"code":404,"message":"Not Found","errors":{}}';

    const response = { kind: 'answered', status: 404, body } as const;

    expect(readResponse(cancelOrder, 'documented', response, [])).toEqual({
      kind: 'rejected',
      httpStatus: 404,
      exchangeCode: 404,
      message: 'Not Found',
      errors: {},
    });
    expect(readResponse(cancelOrder, 'live', response, [])).toMatchObject({ kind: 'ambiguous' });
    // A gateway writes such bodies, too.
    expect(readResponse(stopLimit, 'documented', response, [])).toMatchObject({ kind: 'ambiguous' });
  });

  test.each(['orderId', 'order_id'])('of an order that is not open is recognised by the key %s', (key) => {
    const text = 'Unexecuted order was not found.';
    const body = JSON.stringify({ code: 2, message: 'Inner validation failed', errors: { [key]: [text] } });
    const verdict = readResponse(cancelOrder, 'live', { kind: 'answered', status: 400, body }, []);

    expect(isOrderNotOpen(new ExchangeError(cancelOrder, [{ atMs: 0, failure: verdict as Failure }]))).toBe(
      true,
    );
  });

  test.each([
    '{"code":30,"message":"Validation failed","errors":{"orderType":["This order type is not available"]}}',
    '{"code":30,"message":"This order type is not available"}',
  ])('of an order that is not offered (HTTP 453) says what that means: %s', (body) => {
    const verdict = judge(453, body);

    expect(verdict).toMatchObject({ kind: 'rejected', httpStatus: 453, exchangeCode: 30 });
    const sentence = describeFailure(verdict as Failure);
    expect(sentence).toMatch(/^refused with HTTP 453, code 30: .*This order type is not available/);
    expect(sentence).toContain(
      '(the exchange does not offer this kind of order here: the EU address has no collateral orders at all, and a newly listed market takes only post-only limits)',
    );
  });

  test('of a public endpoint has its own form', () => {
    const body = '{"success":false,"message":"Market is not available","params":["market"]}';

    const verdict = readResponse(ping, 'live', { kind: 'answered', status: 422, body }, []);

    expect(verdict).toEqual({
      kind: 'rejected',
      httpStatus: 422,
      exchangeCode: null,
      message: 'Market is not available',
      errors: {},
    });
  });

  test.each([
    ['with the live key', 'clientOrderId'],
    ['with the documented key', 'client_order_id'],
  ])('of a create because its client order id is used is ambiguous, %s', (_, key) => {
    const text = 'This client order id is already used by the current account.';
    const body = JSON.stringify({ code: 36, message: 'Validation failed', errors: { [key]: [text] } });

    expect(judge(422, body)).toEqual({
      kind: 'ambiguous',
      reason: `an order with this id may exist: refused with HTTP 422, code 36: Validation failed ${key}: ${text}`,
    });
  });

  test('about the client order id of a repeatable request is an ordinary refusal', () => {
    const body = '{"code":36,"message":"m","errors":{"clientOrderId":["ClientOrderId field is required."]}}';
    const response = { kind: 'answered', status: 422, body } as const;

    expect(readResponse(cancelOrder, 'live', response, [])).toMatchObject({
      kind: 'rejected',
      exchangeCode: 36,
    });
  });

  test('keeps only the texts among the errors of a field', () => {
    const body =
      '{"code":30,"message":"m","errors":{"a":["one",2,null,"two"],"b":"three","c":{},"__proto__":["four"]}}';

    expect(judge(422, body)).toMatchObject({ errors: { a: ['one', 'two'], b: ['three'], c: [] } });
  });

  test('is truncated to a size that the ledger can store', () => {
    const errors = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`field-${index}`, Array(500).fill('x'.repeat(500))]),
    );

    const verdict = judge(422, JSON.stringify({ code: 30, message: 'y'.repeat(100_000), errors }));

    expect(verdict.kind).toBe('rejected');
    expect(JSON.stringify(verdict).length).toBeLessThan(25_000);
  });

  test('contains no key, payload, signature or line break', () => {
    const message = `bad signature\r\n${'a'.repeat(128)} of public-key-0123456789 over c2lnbmVkLXBheWxvYWQ=`;

    expect(judge(401, JSON.stringify({ code: 10, message }))).toMatchObject({
      message: 'bad signature [redacted] of [redacted] over [redacted]',
    });
  });
});

describe('a response that proves nothing', () => {
  test.each([
    ['a failed login page', 401, '<html>Forbidden</html>'],
    ['an empty unknown path', 404, ''],
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
    ['half a success', 200, '{"order_id":4180284841,"client_'],
    ['a refusal under the status of a success', 200, refusal],
    ['a success that says nothing', 204, ''],
  ])('%s (HTTP %i) is ambiguous', (_, status, body) => {
    expect(judge(status, body)).toMatchObject({ kind: 'ambiguous' });
  });

  test('an empty 404 says what to check: a proxy answers like that, too', () => {
    expect(judge(404, '')).toEqual({
      kind: 'ambiguous',
      cause: 'unknown_path',
      reason:
        'HTTP 404 without a body: the exchange, or a proxy before it, does not know this path; check the address and the dialect in relay.config.ts',
    });
  });

  test('a private refusal of a public call is ambiguous', () => {
    const response = { kind: 'answered', status: 422, body: refusal } as const;

    expect(readResponse(ping, 'live', response, [])).toMatchObject({ kind: 'ambiguous' });
  });

  test('is described without its body', () => {
    const verdict = judge(200, '<html>private-things</html>');

    expect(JSON.stringify(verdict)).not.toContain('private-things');
  });
});

describe('a refusal by place', () => {
  test.each([
    ['without a body', 451, ''],
    ['as a page', 451, '<html>Unavailable For Legal Reasons</html>'],
    ['as another JSON', 451, '{"error":"unavailable in your country"}'],
    ['as a page of a proxy', 403, '<html>Access denied</html>'],
    ['as an empty 403', 403, ''],
  ])('%s (HTTP %i) proves nothing about an order, and says what to do', (_, status, body) => {
    expect(judge(status, body)).toEqual({
      kind: 'ambiguous',
      cause: 'refused_by_place',
      reason: `HTTP ${status} that is not the exchange's own: requests from this address or country are refused before they reach it; run the relay where the exchange may be used, without a VPN or proxy`,
    });
  });

  test('that the exchange itself writes is a rejection, and says what it means', () => {
    const verdict = judge(451, '{"code":30,"message":"Not available","errors":{}}');

    expect(verdict).toMatchObject({ kind: 'rejected', httpStatus: 451 });
    expect(describeFailure(verdict as Failure)).toBe(
      'refused with HTTP 451, code 30: Not available (the exchange refuses this country or address: run the relay where it may be used)',
    );
  });

  test('of the exchange in JSON is no refusal by place when its form is unknown', () => {
    expect(judge(403, '{"error":"x"}')).toEqual({
      kind: 'ambiguous',
      reason: 'HTTP 403 with a body that proves no refusal',
    });
  });
});

describe('HTTP 429', () => {
  test('in JSON with code 0 is a refused nonce', () => {
    const body = '{"code":0,"message":"Too many requests.","errors":{}}';

    expect(judge(429, body)).toEqual({ kind: 'nonce_refused' });
  });

  test.each(['', 'Too Many Requests', '<html></html>', '{"code":5,"message":"slow down"}', '{"code":0}'])(
    'with %j is a rate limit',
    (body) => {
      expect(judge(429, body)).toEqual({
        kind: 'rate_limited',
        reason: 'HTTP 429: the exchange accepts no more requests for now',
      });
    },
  );
});
