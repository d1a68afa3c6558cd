import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { OrderRequest } from '../../lib/model/order.ts';
import {
  findCancelContradictions,
  findOrderContradictions,
  type ReportedOrder,
} from '../../lib/relay/cancel/find-contradictions.ts';

const asked: OrderRequest = {
  type: 'stop_limit',
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('0.01'),
  price: parseDecimal('60100'),
  activationPrice: parseDecimal('60000'),
  clientOrderId: 'main-1',
};

const answered: ReportedOrder & { readonly market: string } = {
  market: 'BTC_USDT',
  side: 'buy',
  amount: parseDecimal('0.01'),
  price: parseDecimal('60100'),
  activationPrice: parseDecimal('60000'),
  clientOrderId: 'main-1',
};

describe('a response to a create', () => {
  test.each<[string, Partial<ReportedOrder>]>([
    ['repeats the request', {}],
    ['writes numbers in another notation', { amount: parseDecimal('0.0100'), price: parseDecimal('6.01e4') }],
    ['omits the trigger price', { activationPrice: undefined }],
    ['drops the client order id', { clientOrderId: '' }],
  ])('does not contradict the request when it %s', (_, changes) => {
    expect(findOrderContradictions(asked, { ...answered, ...changes })).toEqual([]);
  });

  test('from a list, which reports no market, does not contradict either', () => {
    const { market: _, activationPrice: __, ...listed } = answered;

    expect(findOrderContradictions(asked, listed)).toEqual([]);
  });

  test.each<[Partial<ReportedOrder>, string]>([
    [{ market: 'ETH_USDT' }, 'market ETH_USDT instead of BTC_USDT'],
    [{ side: 'sell' }, 'side sell instead of buy'],
    [{ amount: parseDecimal('100') }, 'amount 100 instead of 0.01'],
    [{ price: parseDecimal('60100.1') }, 'price 60100.1 instead of 60100'],
    [{ activationPrice: parseDecimal('59999') }, 'activation price 59999 instead of 60000'],
    [{ clientOrderId: 'main-2' }, 'client order id main-2 instead of main-1'],
  ])('contradicts the request with %j', (changes, text) => {
    expect(findOrderContradictions(asked, { ...answered, ...changes })).toEqual([text]);
  });

  test('to a reduce-only order may report a smaller amount: the exchange trims it to the position', () => {
    const reducing: OrderRequest = { ...asked, reduceOnly: true };
    const trimmed = { ...answered, reduceOnly: true, amount: parseDecimal('0.004') };

    expect(findOrderContradictions(reducing, trimmed)).toEqual([]);
    expect(findOrderContradictions(asked, { ...answered, amount: parseDecimal('0.004') })).toEqual([
      'amount 0.004 instead of 0.01',
    ]);
    expect(findOrderContradictions(reducing, { ...trimmed, amount: parseDecimal('0.02') })).toEqual([
      'amount 0.02 instead of 0.01',
    ]);
  });

  test('that names the other position contradicts the request', () => {
    const long: OrderRequest = { ...asked, positionSide: 'LONG' };

    expect(findOrderContradictions(long, { ...answered, positionSide: 'LONG' })).toEqual([]);
    expect(findOrderContradictions(long, { ...answered, positionSide: 'SHORT' })).toEqual([
      'position side SHORT instead of LONG',
    ]);
    expect(findOrderContradictions(asked, { ...answered, positionSide: 'BOTH' })).toEqual([]);
  });

  test('that drops reduce-only contradicts the request', () => {
    const reducing: OrderRequest = { ...asked, reduceOnly: true };

    expect(findOrderContradictions(reducing, { ...answered, reduceOnly: false })).toEqual([
      'reduce only false instead of true',
    ]);
  });

  test('with a very long value is quoted shortened', () => {
    const [text] = findOrderContradictions(asked, { ...answered, market: 'x'.repeat(10_000) });

    expect(text).toBe(`market ${'x'.repeat(64)} instead of BTC_USDT`);
  });
});

describe('a response to a cancellation', () => {
  const cancelled = { market: 'BTC_USDT', orderId: 7, clientOrderId: 'main-1' };

  test.each([
    ['both ids', { market: 'BTC_USDT', orderId: 7, clientOrderId: 'main-1' }],
    ['the order id', { market: 'BTC_USDT', orderId: 7, clientOrderId: null }],
    ['the client order id', { market: 'BTC_USDT', orderId: null, clientOrderId: 'main-1' }],
  ])('of an order known by %s does not contradict when it names that order', (_, name) => {
    expect(findCancelContradictions(name, cancelled)).toEqual([]);
    expect(findCancelContradictions(name, { ...cancelled, clientOrderId: '' })).toEqual([]);
  });

  test.each([
    [{ market: 'ETH_USDT' }, 'market ETH_USDT instead of BTC_USDT'],
    [{ orderId: 8 }, 'order id 8 instead of 7'],
    [{ clientOrderId: 'main-2' }, 'client order id main-2 instead of main-1'],
  ])('contradicts with %j', (changes, text) => {
    expect(findCancelContradictions(cancelled, { ...cancelled, ...changes })).toEqual([text]);
  });
});
