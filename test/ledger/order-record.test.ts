import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import { listRecords, type OrderRecord, orderRecordOf } from '../../lib/ledger/order-record.ts';
import type { Execution, OrderExecution } from '../../lib/model/execution.ts';
import type { Signal } from '../../lib/model/signal.ts';
import type { OrderReport, StepFacts } from '../../lib/model/step-facts.ts';

const base = { ticker: 'X', market: 'BTC_PERP', timeMs: null, maxLagMs: null } as const;
const bought: Signal = {
  ...base,
  action: 'order',
  orderType: 'limit',
  side: 'buy',
  size: { unit: 'base', quantity: '0.5' },
  limitPrice: '50000',
  stopLoss: '48000',
};

const report: OrderReport = {
  orderId: 7,
  side: 'buy',
  status: 'partially_filled',
  amount: '0.5',
  filled: '0.2',
  createdAtMs: 1_100,
  endedAtMs: null,
};

const own: OrderExecution = {
  role: 'order',
  orderId: 7,
  status: 'open',
  endedAtMs: null,
  filled: '0',
  filledNotional: '0',
  fees: {},
};

const step = (status: Step['status'], atMs: number, facts: StepFacts): Step => ({
  status,
  atMs,
  note: '',
  facts,
});
const followed = (...orders: readonly OrderExecution[]): Execution => ({
  revision: 1,
  readAtMs: 3_000,
  orders,
  isFollowed: true,
});

function entryOf(changes: Partial<Entry> = {}): Entry {
  return {
    account: 'main',
    signalId: 'a',
    status: 'placed',
    signal: bought,
    clientOrderId: 'tr-1',
    fingerprint: 'f',
    createdAtMs: 900,
    updatedAtMs: 1_200,
    steps: [step('sending', 1_000, {}), step('placed', 1_200, { report })],
    orderId: 7,
    orderOpen: true,
    lookup: null,
    execution: null,
    ...changes,
  };
}

const cancel = (facts: StepFacts): Entry =>
  entryOf({
    signalId: 'c',
    status: 'cancelled',
    signal: { ...base, action: 'cancel_all' },
    steps: [step('sending', 2_000, { placedBy: ['a'] }), step('cancelled', 2_100, facts)],
    orderId: null,
  });

const standing = (record: OrderRecord | null) => [
  record?.state,
  record?.filled.toFixed(),
  record?.endedAtMs,
  record?.exits.map(({ order }) => order?.orderId),
];

describe('The record of an order', () => {
  test('stands as it was reported, until it was followed', () => {
    const stop: OrderExecution = { ...own, role: 'stop_loss', orderId: 8, price: '48000' };
    const filled: OrderExecution = { ...own, status: 'filled', filled: '0.5', endedAtMs: 2_500 };

    expect(standing(orderRecordOf(entryOf({ steps: [step('sending', 1_000, {})] })))).toEqual([
      null,
      '0',
      null,
      [undefined],
    ]);
    expect(standing(orderRecordOf(entryOf()))).toEqual(['partially_filled', '0.2', null, [undefined]]);
    expect(standing(orderRecordOf(entryOf({ execution: followed(filled, stop) })))).toEqual([
      'filled',
      '0.5',
      2_500,
      [8],
    ]);
  });

  test('has every sighting of a fill: the response, the follower, a cancellation', () => {
    const filled = { ...own, status: 'filled', filled: '0.3' } as const;
    const entry = entryOf({ execution: followed(filled) });
    const [record] = listRecords([entry, cancel({ cancelled: [{ orderId: 7, filled: '0.4' }] })]);

    expect(record?.sightings).toEqual([
      { filled: parseDecimal('0.2'), atMs: 1_200, exchangeMs: 1_100 },
      { filled: parseDecimal('0.5'), atMs: 3_000, exchangeMs: null },
      { filled: parseDecimal('0.4'), atMs: 2_100, exchangeMs: null },
    ]);
  });

  test('says that all may be filled of an order that was gone, as long as its end is not known', () => {
    const cancelledOf = (execution: Execution | null) =>
      listRecords([entryOf({ execution }), cancel({ wasGone: true })])[0]?.cancelled;

    expect(cancelledOf(null)).toEqual({ filled: null, atMs: 2_100 });
    expect(cancelledOf(followed(own))).toEqual({ filled: null, atMs: 2_100 });
    expect(cancelledOf(followed({ ...own, status: 'cancelled' }))).toBeNull();
  });

  test('takes what ended the rest for the report, and keeps one whose rest could not be ended apart', () => {
    const ended: OrderReport = { ...report, status: 'cancelled', filled: '0.3' };
    const resting = step('unknown', 1_200, { report });
    const told = (steps: readonly Step[]) => {
      const { reported, lastReport } = orderRecordOf(entryOf({ steps })) ?? {};
      return [reported?.filled, lastReport?.filled];
    };

    expect(told([step('placed', 1_200, { report, ended })])).toEqual(['0.3', '0.3']);
    expect(told([step('placed', 1_200, { report, ended: null })])).toEqual(['0.2', '0.2']);
    expect(told([resting])).toEqual([undefined, '0.2']);
  });

  test('is none of a cancellation or a refused alert', () => {
    expect([cancel({}), entryOf({ signal: null })].map((entry) => orderRecordOf(entry))).toEqual([
      null,
      null,
    ]);
  });
});
