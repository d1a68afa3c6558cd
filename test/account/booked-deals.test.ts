import { describe, expect, test } from '@jest/globals';
import { bookDeals, type FollowedDeal } from '../../lib/account/booked-deals.ts';
import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';

const deal = (id: number, amount: string, changes: Partial<FollowedDeal> = {}): FollowedDeal => ({
  id,
  atMs: 1_000,
  role: 'taker',
  amount: parseDecimal(amount),
  price: parseDecimal('50000'),
  notional: parseDecimal(amount).times('50000'),
  fee: zero,
  feeAsset: 'USDT',
  ...changes,
});

function book(deals: readonly FollowedDeal[], reported: string | null, stored: readonly number[] = []) {
  const size = { amount: parseDecimal('1'), reported: reported === null ? null : parseDecimal(reported) };
  const booked = bookDeals({ ...size, hasEnded: false }, deals, new Set(stored));
  const ids = (list: readonly FollowedDeal[]) => list.map(({ id }) => id);
  return [ids(booked.deals), formatDecimal(booked.sum), ids(booked.surplus), booked.isContradicted];
}

describe('The fills of an order of 1', () => {
  test.each<[string, readonly FollowedDeal[], string | null, readonly number[], unknown]>([
    ['all count up to its amount', [deal(1, '0.4'), deal(2, '0.6')], '1', [], [[1, 2], '1', [], false]],
    [
      'two that are alike count while they fill no more than is reported',
      [deal(1, '0.5'), deal(2, '0.5')],
      '1',
      [],
      [[1, 2], '1', [], false],
    ],
    [
      'one of two that are alike does not count beyond what is reported',
      [deal(1, '0.4'), deal(2, '0.4')],
      '0.4',
      [],
      [[1], '0.4', [2], false],
    ],
    [
      'one that differs does not count beyond its amount, whatever is reported',
      [deal(1, '0.8'), deal(2, '0.4', { atMs: 2_000 })],
      null,
      [],
      [[1], '0.8', [2], true],
    ],
    [
      'the one that was booked before stays',
      [deal(1, '0.8'), deal(2, '0.4', { atMs: 2_000 })],
      null,
      [2],
      [[2], '0.4', [1], true],
    ],
  ])('%s', (_, deals, reported, stored, expected) => {
    expect(book(deals, reported, stored)).toEqual(expected);
  });
});

test('Of fills that are alike, one counts while nothing says how much an order can have filled', () => {
  const unknown = { amount: null, reported: null, hasEnded: false };
  const booked = bookDeals(unknown, [deal(1, '0.4'), deal(2, '0.4'), deal(3, '0.3')], new Set());

  expect(booked.deals.map(({ id }) => id)).toEqual([1, 3]);
});
