import { expect, test } from '@jest/globals';
import { createAcceptedEntry } from '../../lib/ledger/create-entry.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { orderRecordOf } from '../../lib/ledger/order-record.ts';
import type { FollowedStatus, OrderExecution } from '../../lib/model/execution.ts';
import type { SpotFact } from '../../lib/model/step-facts.ts';
import { profitOfKept } from '../../lib/reports/kept-profit.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';

const order = { role: 'order', orderId: 1, status: 'filled', endedAtMs: 1 } as const;

function orderOf(filled: string, filledNotional: string, fees: OrderExecution['fees']): OrderExecution {
  return { ...order, filled, filledNotional, fees };
}

/** What a buy of 0.1 at 50000 made by a sale. */
function profitOf(
  sale: OrderExecution,
  { fees = { USDT: '5' }, spot, status = 'filled' }: Changes = {},
): string | undefined {
  const accepted = createAcceptedEntry(orderEntry('buy-1'));
  const sending = {
    status: 'sending',
    atMs: 1,
    note: '',
    facts: spot === undefined ? {} : { spot },
  } as const;
  const execution = {
    revision: 1,
    readAtMs: 1,
    orders: [{ ...orderOf('0.1', '5000', fees), status }],
    isFollowed: true,
  };
  const entry: Entry = { ...accepted, status: 'placed', steps: [...accepted.steps, sending], execution };
  const record = orderRecordOf(entry);
  return record === null ? undefined : profitOfKept(record, sale)?.toFixed();
}

interface Changes {
  readonly fees?: OrderExecution['fees'];
  readonly spot?: SpotFact;
  readonly status?: FollowedStatus;
}

test('a part bears its share of the fee of the entry', () => {
  expect(profitOf(orderOf('0.04', '2040', { USDT: '2' }))).toBe('36');
});

test('on spot a buy that was sold whole without its fee bears all of that fee', () => {
  const bought = { fees: { BTC: '0.0001' }, spot: { amountStep: '0.000001', least: '0.0001' } };
  // 5000 were paid, and 0.0999 brought 4995 less 4.995.
  expect(profitOf(orderOf('0.0999', '4995', { USDT: '4.995' }), bought)).toBe('-9.995');
});

test.each([
  ['more was sold than it bought', orderOf('0.11', '5500', {}), {}],
  ['nothing was sold', orderOf('0', '0', {}), {}],
  ['it may still fill', orderOf('0.04', '2040', {}), { status: 'open' }],
] as const)('is not known where %s', (_, sale, changes) => {
  expect(profitOf(sale, changes)).toBeUndefined();
});
