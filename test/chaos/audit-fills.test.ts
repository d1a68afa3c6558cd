import { describe, expect, test } from '@jest/globals';
import type { Fill } from '../../lib/model/execution.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { findFillGaps } from './audit-fills.ts';

const order = {
  orderId: 7,
  account: 'main',
  filled: '0.3',
  filledNotional: '18006',
  fee: '9.9',
} as OrderState;
const part: Fill = {
  account: 'main',
  market: 'BTC_PERP',
  dealId: 1,
  atMs: 1000,
  signalId: 's',
  orderId: 7,
  role: 'order',
  side: 'buy',
  liquidity: 'taker',
  amount: '0.1',
  price: '60010',
  notional: '6001',
  fee: '3.3',
  feeAsset: 'USDT',
};
const rest: Fill = { ...part, dealId: 2, amount: '0.2', price: '60025', notional: '12005', fee: '6.6' };
const whats = (fills: readonly Fill[]) => findFillGaps([order], fills).map(({ what }) => what);

describe('the audit of fills', () => {
  test('has nothing to say when the fills of each order add up to what the exchange booked', () => {
    expect(whats([part, rest])).toEqual([]);
  });

  test.each([
    ['one that is missing', [part], '0.1, 6001, 3.3 in 1 fills'],
    ['one of another fee', [part, { ...rest, fee: '6.5' }], '0.3, 18006, 9.8 in 2 fills'],
    ['one that is counted twice', [part, rest, rest], '0.5, 30011, 16.5 in 3 fills'],
  ])('finds %s', (_, fills, stored) => {
    expect(whats(fills)).toEqual([
      `order 7 of main filled 0.3, 18006, 9.9 (amount, notional, fee), and the ledger has ${stored}`,
    ]);
  });

  test('finds fills of an order that the exchange does not have', () => {
    expect(whats([part, rest, { ...part, dealId: 3, orderId: 8 }])).toEqual([
      'the ledger has fills of order 8, which does not exist',
    ]);
  });
});
