import { expect, test } from '@jest/globals';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import type { OrderExecution } from '../../../lib/model/execution.ts';
import { createKnownOrder, judgeOrder } from '../../../lib/relay/follow/followed-order.ts';

const amount = parseDecimal('0.1');
const name = { role: 'order', orderId: 7, amount } as const;
const noted: OrderExecution = {
  role: 'order',
  orderId: 7,
  status: 'partially_filled',
  endedAtMs: null,
  filled: '0.1',
  filledNotional: '5000',
  fees: { USDT: '5' },
};
const deal = {
  id: 1,
  side: 'buy',
  amount,
  price: parseDecimal('50000'),
  notional: parseDecimal('5000'),
  fee: parseDecimal('5'),
  feeAsset: 'USDT',
  role: 'taker',
  atMs: 1_000,
} as const;

test('when an order was filled, a process that has not read its fills itself asks for it, once', () => {
  const known = createKnownOrder();
  expect(judgeOrder(name, noted, known, 60_000)).toMatchObject({ isWhole: false, isUnexplained: true });

  known.askedAtMs = 60_000;
  expect(judgeOrder(name, noted, known, 60_000)).toMatchObject({ isWhole: true, order: { endedAtMs: null } });
  known.deals.set(deal.id, deal);
  expect(judgeOrder(name, noted, known, 60_000)).toMatchObject({
    isWhole: true,
    order: { status: 'filled', endedAtMs: 1_000 },
  });
});
