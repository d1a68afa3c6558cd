import { describe, expect, test } from '@jest/globals';
import {
  baseUrlOf,
  fromWire,
  orderTypeOf,
  orderTypeWord,
  spokenDialect,
  toWire,
  wireNames,
  wireWord,
} from '../../lib/exchange/dialect.ts';
import { conditionalOrders } from '../../lib/exchange/endpoints/conditional-orders.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { stopLimit } from '../../lib/exchange/endpoints/stop-limit.ts';
import { isKnownStatusWord, statusOf, statusWord } from '../../lib/exchange/status-words.ts';

describe('names', () => {
  test('change at every depth, to the wire and back', () => {
    const model = { orderId: 1, legs: [{ clientOrderId: 'a', other: null }] };
    const wire = { order_id: 1, legs: [{ client_order_id: 'a', other: null }] };

    expect(toWire('documented', stopLimit, model)).toEqual(wire);
    expect(fromWire('documented', stopLimit, wire)).toEqual(model);
  });

  test('can differ from endpoint to endpoint', () => {
    expect(wireWord('live', stopLimit, 'activationPrice')).toBe('activation_price');
    expect(wireWord('live', conditionalOrders, 'activationPrice')).toBe('activationPrice');
    expect(wireWord('documented', conditionalOrders, 'stopLoss')).toBe('stop_loss');
    expect(wireWord('documented', stopLimit, 'stopLoss')).toBe('stopLoss');
    expect(wireNames('documented', stopLimit)['dealFee']).toBe('deal_fee');
  });

  test('that belong to the other dialect are dropped', () => {
    expect(fromWire('documented', stopLimit, { clientOrderId: 'a', order_id: 1 })).toEqual({ orderId: 1 });
    expect(fromWire('live', stopLimit, { client_order_id: 'a' })).toEqual({ client_order_id: 'a' });
  });

  test('with a special meaning in JavaScript are treated as plain keys', () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"toString":2}');

    const renamed = fromWire('live', stopLimit, hostile);

    expect(renamed).toStrictEqual({ constructor: 1, toString: 2 });
    expect(Object.getPrototypeOf(renamed)).toBe(Object.prototype);
  });

  test('are refused in values that nest deeper than any response', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`);

    expect(() => fromWire('live', stopLimit, deep)).toThrow(RangeError);
  });

  test('of undocumented endpoints are the live ones in both dialects', () => {
    expect(spokenDialect('documented', openOrder)).toBe('live');
    expect(spokenDialect('documented', stopLimit)).toBe('documented');
    expect(wireWord('documented', openOrder, 'clientOrderId')).toBe('clientOrderId');
  });
});

describe('statuses', () => {
  test.each([
    ['NEW', 'open'],
    ['OPEN', 'open'],
    ['PARTIALLY_FILLED', 'partially_filled'],
    ['FILLED', 'filled'],
    ['CANCELLED', 'cancelled'],
    ['CANCELED', 'cancelled'],
  ])('%s means %s', (word, status) => {
    expect(statusOf(word)).toEqual({ status });
  });

  test.each([
    'CANCELED_STP',
    'CANCELED_TAKER_BAND',
    'CANCELED_RPI',
    'AUTO_CANCELED_REDUCE_ONLY',
    'AUTO_CANCELED_LIQUIDATION',
    'AUTO_CANCELED_USER_MARGIN',
    'DELISTING',
  ])('%s is a cancellation with a reason', (word) => {
    expect(statusOf(word)).toEqual({ status: 'cancelled', endReason: word });
    expect(statusWord('live', 'cancelled', word)).toBe(word);
    expect(statusWord('documented', 'cancelled', word)).toBe('CANCELLED');
  });

  test('that no dialect knows are refused', () => {
    expect(isKnownStatusWord('PENDING')).toBe(false);
    expect(() => statusOf('PENDING')).toThrow('"PENDING" is not an order status');
  });
});

describe('order types', () => {
  test.each([
    ['stop limit', 'stop_limit'],
    ['margin stop limit', 'stop_limit'],
    ['limit', 'limit'],
    ['margin limit', 'limit'],
    ['market', 'market'],
    ['stock market', 'market'],
    ['margin market', 'market'],
    ['stop market', 'stop_market'],
    ['trigger margin market', 'stop_market'],
    ['iceberg', 'iceberg'],
  ])('"%s" is read as "%s"', (word, type) => {
    expect(orderTypeOf(word)).toBe(type);
  });

  test('are written as the dialect spells them', () => {
    expect(orderTypeWord('documented', 'stop_limit')).toBe('stop limit');
    expect(orderTypeWord('live', 'stop_limit')).toBe('margin stop limit');
  });
});

describe('addresses', () => {
  test.each([
    ['global', 'https://whitebit.com'],
    ['eu', 'https://whitebit.eu'],
    ['https://exchange.test', 'https://exchange.test'],
    ['https://exchange.test:8443/', 'https://exchange.test:8443'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['http://localhost:8080', 'http://localhost:8080'],
  ])('%s stands for %s', (address, baseUrl) => {
    expect(baseUrlOf(address)).toBe(baseUrl);
  });

  test.each([
    ['usa', 'neither global, eu nor a URL'],
    ['constructor', 'neither global, eu nor a URL'],
    ['http://exchange.test', 'must use https'],
    ['http://127.0.0.1.exchange.test', 'must use https'],
    ['ftp://127.0.0.1', 'must use https'],
    ['https://exchange.test/api', 'must end after the host and port'],
    ['https://exchange.test/?a=1', 'must end after the host and port'],
  ])('%s is refused', (address, text) => {
    expect(() => baseUrlOf(address)).toThrow(text);
  });

  test('with a password are refused, and the error does not repeat the password', () => {
    expect(() => baseUrlOf('https://user:pass-word@exchange.test')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('pass-word') }),
    );
  });
});
