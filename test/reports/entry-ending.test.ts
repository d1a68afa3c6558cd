import { describe, expect, test } from '@jest/globals';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Fill, OrderExecution } from '../../lib/model/execution.ts';
import type { Side } from '../../lib/model/order.ts';
import type { Signal } from '../../lib/model/signal.ts';
import type { StepFacts } from '../../lib/model/step-facts.ts';
import { endingOf } from '../../lib/reports/entry-ending.ts';
import { createLotBooks, type LotBooks } from '../../lib/reports/entry-lots.ts';

const buy: Signal = {
  action: 'order',
  orderType: 'market',
  ticker: 'BTCUSDT',
  market: 'BTC_USDT',
  timeMs: null,
  maxLagMs: null,
  side: 'buy',
  size: { unit: 'base', quantity: '0.01' },
};
const close: Signal = {
  action: 'close',
  ticker: 'BTCUSDT',
  market: 'BTC_USDT',
  timeMs: null,
  maxLagMs: null,
};

const ownOrder: OrderExecution = {
  role: 'order',
  orderId: 1,
  status: 'filled',
  endedAtMs: 1000,
  filled: '0.01',
  filledNotional: '500',
  fees: { USDT: '0.5' },
};
const stop: OrderExecution = {
  ...ownOrder,
  role: 'stop_loss',
  orderId: 2,
  filledNotional: '489',
  price: '49000',
};
const target: OrderExecution = { ...ownOrder, role: 'take_profit', orderId: 3, filledNotional: '525' };
const nothing = { filled: '0', filledNotional: '0', fees: {} } as const;

const report = {
  orderId: 1,
  side: 'buy',
  amount: '0.01',
  filled: '0',
  createdAtMs: 2,
  endedAtMs: null,
} as const;

function entryOf(orders: readonly OrderExecution[], signal: Signal = buy, facts: StepFacts = {}): Entry {
  const steps = [
    { status: 'accepted', atMs: 0, note: 'stored' },
    { status: 'sending', atMs: 1, note: 'on its way', facts },
    { status: 'placed', atMs: 2, note: 'held', facts: { report: { ...report, status: 'open' } } },
  ] as const;
  return {
    account: 'main',
    signalId: 's-1',
    status: 'placed',
    signal,
    clientOrderId: 'tr-1',
    fingerprint: 'f',
    createdAtMs: 0,
    updatedAtMs: 2,
    steps,
    orderId: 1,
    orderOpen: false,
    lookup: null,
    execution: orders.length === 0 ? null : { revision: 1, readAtMs: 1000, orders, isFollowed: true },
  };
}

function told(entry: Entry, books?: LotBooks): unknown {
  return JSON.parse(JSON.stringify(endingOf(entry, books?.lotOf(entry) ?? null)));
}

describe('without other fills, the own orders of an entry tell', () => {
  test.each<[string, readonly OrderExecution[], object]>([
    ['nothing while nothing was read', [], { state: 'unread', profit: null }],
    ['that it waits', [{ ...ownOrder, ...nothing, status: 'open' }], { state: 'waiting', profit: null }],
    ['that it fills', [{ ...ownOrder, status: 'partially_filled' }], { state: 'filling', profit: null }],
    ['that it is open', [ownOrder, { ...stop, ...nothing, status: 'open' }], { state: 'open', profit: null }],
    [
      'a loss at the stop, after the fees of both orders',
      [ownOrder, stop, { ...target, ...nothing, status: 'cancelled' }],
      { state: 'stopped_out', profit: '-12', quote: 'USDT', left: '0' },
    ],
    [
      'a gain at the target',
      [ownOrder, { ...stop, ...nothing, status: 'cancelled' }, target],
      { state: 'target', profit: '24', left: '0' },
    ],
    [
      'both exits, each for a part',
      [
        ownOrder,
        { ...stop, filled: '0.004', filledNotional: '196', fees: {} },
        { ...target, filled: '0.006', filledNotional: '315', fees: {} },
      ],
      { state: 'closed', profit: '10.5' },
    ],
    [
      'a fee that has no price here',
      [
        { ...ownOrder, fees: { WBT: '0.1' } },
        { ...stop, fees: {} },
      ],
      { state: 'stopped_out', profit: '-11', unvaluedFees: ['WBT'] },
    ],
    [
      'a fee in the base currency at the price of its order',
      [
        { ...ownOrder, fees: { BTC: '0.00001' } },
        { ...stop, fees: {} },
      ],
      { state: 'stopped_out', profit: '-11.5', unvaluedFees: [] },
    ],
    ['that it was cancelled', [{ ...ownOrder, ...nothing, status: 'cancelled' }], { state: 'cancelled' }],
    [
      'why the exchange cancelled it',
      [{ ...ownOrder, ...nothing, status: 'cancelled', endReason: 'DELISTING' }],
      { state: 'cancelled', reason: 'DELISTING' },
    ],
    ['that nobody knows how it ended', [{ ...ownOrder, ...nothing, status: 'gone' }], { state: 'gone' }],
  ])('%s', (_name, orders, expected) => {
    expect(told(entryOf(orders))).toMatchObject(expected);
  });

  test('that an order which the exchange cancelled at once was not filled', () => {
    const entry = entryOf([{ ...ownOrder, ...nothing, status: 'cancelled' }]);
    const placed = { ...entry.steps[2], facts: { report: { ...report, status: 'cancelled' } } };
    expect(told({ ...entry, steps: [...entry.steps.slice(0, 2), placed] } as Entry)).toMatchObject({
      state: 'unfilled',
    });
  });

  test('the profit of a short that a position signal opened', () => {
    const reverse: Signal = { ...close, action: 'reverse', leg: 'open' };
    expect(
      told(
        entryOf([ownOrder, stop], reverse, {
          positionOrder: { side: 'sell', size: { unit: 'base', quantity: '0.01' }, reduceOnly: false },
        }),
      ),
    ).toMatchObject({
      state: 'stopped_out',
      profit: '10',
    });
  });

  test('nothing of a signal that placed no order', () => {
    expect(endingOf({ ...entryOf([]), status: 'denied' })).toBeNull();
    expect(endingOf(entryOf([], { ...close, action: 'cancel_all' }))).toBeNull();
  });
});

let deals = 0;
function fillOf(
  signalId: string,
  side: 'buy' | 'sell',
  amount: string,
  price: string,
  more: Partial<Fill> = {},
): Fill {
  deals += 1;
  return {
    account: 'main',
    market: 'BTC_USDT',
    dealId: deals,
    atMs: deals,
    signalId,
    orderId: deals,
    role: 'order',
    side,
    liquidity: 'taker',
    amount,
    price,
    notional: String(Number(amount) * Number(price)),
    fee: '0.1',
    feeAsset: 'USDT',
    ...more,
  };
}

function bookAll(fills: readonly Fill[], isSpot = false): LotBooks {
  const books = createLotBooks(() => isSpot);
  for (const fill of fills) books.book(fill);
  return books;
}

function endings(books: LotBooks, ...ids: readonly string[]): unknown {
  return ids.map((signalId) => told({ ...entryOf([ownOrder]), signalId }, books));
}

describe('the fills of all signals tell', () => {
  test('what a close made of an entry, and the close the same', () => {
    const books = bookAll([
      fillOf('in', 'buy', '0.01', '50000'),
      fillOf('out', 'sell', '0.01', '50340', { onlyReduces: true }),
    ]);
    expect(endings(books, 'in', 'out')).toMatchObject([
      { state: 'closed', profit: '3.2', left: '0' },
      { state: 'reduced', profit: '3.2', left: '0' },
    ]);
  });

  test('which of several entries was closed: the one that was opened first', () => {
    const books = bookAll([
      fillOf('first', 'buy', '0.01', '50000'),
      fillOf('second', 'buy', '0.01', '51000'),
      fillOf('out', 'sell', '0.015', '52000', { onlyReduces: true, fee: '0.3' }),
    ]);
    expect(endings(books, 'first', 'second', 'out')).toMatchObject([
      { state: 'closed', profit: '19.7', left: '0' },
      { state: 'open', profit: '4.85', left: '0.005' },
      { state: 'reduced', profit: '24.55' },
    ]);
  });

  test('that it was closed by hand, and not by the stop-loss that opened the other side after it', () => {
    const books = bookAll([
      fillOf('in', 'buy', '0.01', '50000'),
      fillOf('', 'sell', '0.01', '50340', { role: 'other' }),
      fillOf('in', 'sell', '0.01', '49000', { role: 'stop_loss' }),
    ]);

    expect(told({ ...entryOf([ownOrder, stop]), signalId: 'in' }, books)).toMatchObject({
      state: 'closed',
      profit: '3.2',
      left: '0',
    });
    expect(books.leftOf('main', 'BTC_USDT', 'sell').toFixed()).toBe('0.01');
  });

  test('what deals by hand opened, in each market and on its side', () => {
    const books = bookAll([
      fillOf('', 'buy', '0.01', '50000', { role: 'other' }),
      fillOf('', 'sell', '0.5', '3000', { role: 'other', market: 'ETH_USDT' }),
      fillOf('in', 'buy', '0.02', '50000'),
      fillOf('out', 'sell', '0.01', '51000', { onlyReduces: true }),
    ]);
    const left = (market: string) =>
      (['buy', 'sell'] as const).map((side) => books.leftOf('main', market, side).toFixed());

    expect([left('BTC_USDT'), left('ETH_USDT')]).toEqual([
      ['0.02', '0'],
      ['0', '0.5'],
    ]);
    expect(endings(books, 'in')).toMatchObject([{ state: 'open', left: '0.02' }]);
  });

  test('that an exit closes what its own entry opened, although another was first', () => {
    const books = bookAll([
      fillOf('first', 'buy', '0.01', '50000'),
      fillOf('second', 'buy', '0.01', '51000'),
      fillOf('second', 'sell', '0.01', '50500', { role: 'stop_loss' }),
    ]);
    expect(endings(books, 'first', 'second')).toMatchObject([
      { state: 'open', profit: null, left: '0.01' },
      { state: 'stopped_out', profit: '-5.2', left: '0' },
    ]);
  });

  test('that an exit that turned the position left nothing of its entry, and what closed it knows its cost', () => {
    const fills = [
      fillOf('in', 'buy', '0.01', '50000', { fee: '0' }),
      fillOf('out', 'sell', '0.01', '49500', { fee: '0' }),
      fillOf('in', 'sell', '0.01', '49000', { role: 'stop_loss', fee: '0' }),
    ];
    const turned = bookAll(fills);
    expect(endings(turned, 'in')).toMatchObject([{ state: 'closed', profit: '-5', left: '0' }]);
    expect(['buy', 'sell'].map((side) => turned.leftOf('main', 'BTC_USDT', side as Side).toFixed())).toEqual([
      '0',
      '0.01',
    ]);

    const ended = bookAll([...fills, fillOf('back', 'buy', '0.01', '51500', { fee: '0' })]);
    expect(endings(ended, 'in', 'back')).toMatchObject([
      { state: 'closed', profit: '-5', left: '0' },
      { state: 'reduced', profit: '-25', left: '0' },
    ]);
    expect(ended.leftOf('main', 'BTC_USDT', 'sell').toFixed()).toBe('0');
  });

  test('that a reversal ends one entry and opens the other side', () => {
    const books = bookAll([
      fillOf('long', 'buy', '0.01', '50000'),
      fillOf('turn', 'sell', '0.02', '51000', { fee: '0.2' }),
    ]);
    expect(endings(books, 'long', 'turn')).toMatchObject([
      { state: 'closed', profit: '9.8' },
      { state: 'open', profit: '9.8', left: '0.01' },
    ]);
    expect(books.leftOf('main', 'BTC_USDT', 'sell').toFixed()).toBe('0.01');
    expect(books.leftOf('main', 'BTC_USDT', 'buy').toFixed()).toBe('0');
  });

  test('that the profit of what no stored fill opened is not known', () => {
    const books = bookAll([fillOf('out', 'sell', '0.01', '51000', { onlyReduces: true })]);
    expect(endings(books, 'out')).toMatchObject([{ state: 'reduced', profit: null }]);
  });

  test('that a fee in the base currency leaves what was bought on spot', () => {
    const books = bookAll(
      [
        fillOf('in', 'buy', '0.01', '50000', { fee: '0.00001', feeAsset: 'BTC' }),
        fillOf('out', 'sell', '0.00999', '50000'),
      ],
      true,
    );
    expect(endings(books, 'in', 'out')).toMatchObject([
      { state: 'closed', profit: '-0.6', left: '0' },
      { state: 'reduced', profit: '-0.6' },
    ]);
  });

  test('that what was bought on spot is just open while nothing sold it, although its fee left it', () => {
    const books = bookAll(
      [fillOf('in', 'buy', '0.005', '50000', { fee: '0.000005', feeAsset: 'BTC' })],
      true,
    );

    expect(endings(books, 'in')).toMatchObject([{ state: 'open', profit: null, left: '0.004995' }]);
  });

  test.each([
    ['exactly what was bought', '0.01', '9.49'],
    ['more than that', '0.0101', null],
  ])('that a sale of %s on spot sold the fee beside it', (_, amount, profit) => {
    const books = bookAll(
      [
        fillOf('in', 'buy', '0.01', '50000', { fee: '0.00001', feeAsset: 'BTC' }),
        fillOf('out', 'sell', amount, '51000', { fee: '0' }),
        fillOf('again', 'sell', '0.00001', '51000', { fee: '0' }),
      ],
      true,
    );

    expect(endings(books, 'in', 'out', 'again')).toMatchObject([
      { state: 'closed', left: '0' },
      { state: 'reduced', profit },
      { state: 'reduced', profit: null },
    ]);
  });

  test('that a sale of one strategy on spot sold nothing that another one had bought', () => {
    const books = createLotBooks(() => true);
    books.book(fillOf('in', 'buy', '0.01', '50000'), 'a');
    books.book(fillOf('other', 'sell', '0.01', '51000'), 'b');
    expect(endings(books, 'in', 'other')).toMatchObject([
      { state: 'open', profit: null, left: '0.01' },
      { state: 'reduced', profit: null },
    ]);

    books.book(fillOf('out', 'sell', '0.01', '52000'), 'a');
    expect(endings(books, 'in', 'out')).toMatchObject([
      { state: 'closed', profit: '19.8', left: '0' },
      { state: 'reduced', profit: '19.8' },
    ]);
  });
});
