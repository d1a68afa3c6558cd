import { describe, expect, test } from '@jest/globals';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { createExchangeState } from '../../lib/paper/engine/exchange-state.ts';
import { describeState, type OrderState } from '../../lib/paper/server/state.ts';
import type { RaisedAlarm } from './alarms.ts';
import { checkProtection, findUnfitProtection, type ProtectionView } from './audit-protection.ts';
import { gatherEvidence } from './evidence.ts';
import type { Facts } from './facts.ts';

function keepEntry(signalId: string, market: string, signal: object): Entry {
  return {
    account: 'second',
    signalId,
    status: 'placed',
    signal: { market, ...signal } as Signal,
    clientOrderId: `tr-${signalId}`,
    fingerprint: '',
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    steps: [],
    orderId: null,
    orderOpen: false,
    lookup: null,
    execution: null,
  };
}

const stopOf = (of: string) => ({ action: 'protect', role: 'stop_loss', of });

let orderCount = 0;
function hold(name: string, changes: Partial<OrderState>): OrderState {
  orderCount += 1;
  return {
    orderId: orderCount,
    account: 'second',
    clientOrderId: name === '' ? '' : `tr-${name}`,
    market: 'BTC_USDT',
    side: 'sell',
    positionSide: 'BOTH',
    type: 'stop_limit',
    status: 'open',
    endReason: null,
    activated: false,
    amount: '0.01',
    remaining: changes.amount ?? '0.01',
    price: '58000',
    activationPrice: '59000',
    postOnly: false,
    ioc: false,
    reduceOnly: true,
    filled: '0',
    filledNotional: '0',
    fee: '0',
    reserved: '0',
    createdAtMs: 2_000,
    updatedAtMs: 2_000,
    ...changes,
  };
}

function fill(name: string, side: 'buy' | 'sell', amount: string, changes: Partial<OrderState> = {}) {
  const filled = {
    side,
    amount,
    filled: amount,
    remaining: '0',
    status: 'filled',
    updatedAtMs: 1_500,
  } as const;
  return hold(name, { ...filled, reduceOnly: false, activationPrice: null, ...changes });
}

/** What the exchange has after these orders, with a position in `BTC_USDT`. */
function exchangeOf(amount: string, orders: readonly OrderState[]): Facts['exchange'] {
  const { accounts, counterparty, fees } = describeState(createExchangeState());
  const positions = { BTC_USDT: { positionId: 1, amount, basePrice: '60000', margin: '0' } };
  const second = accounts['second'];
  if (second === undefined) throw new Error('the paper exchange has no second account');
  const acceptedOrderIds = orders.map(({ orderId }) => orderId);
  return {
    orders,
    acceptedCreates: orders.length,
    acceptedOrderIds,
    accounts: { ...accounts, second: { ...second, positions } },
    counterparty,
    fees,
  };
}

const entries = [
  keepEntry('buy', 'BTC_USDT', { action: 'order', side: 'buy' }),
  keepEntry('buy:stop-1', 'BTC_USDT', stopOf('buy')),
  keepEntry('spot', 'SOL_USDT', { action: 'order', side: 'buy' }),
  keepEntry('spot:stop-1', 'SOL_USDT', stopOf('spot')),
  keepEntry('sale', 'SOL_USDT', { action: 'order', side: 'sell' }),
];
const bought = fill('buy', 'buy', '0.01');

function alarm(changes: Partial<RaisedAlarm>): RaisedAlarm {
  return {
    name: 'position_unprotected',
    message: 'm',
    atMs: 1_600,
    account: 'second',
    signalId: 'buy',
    market: '',
    ...changes,
  };
}

function unfit(amount: string, orders: readonly OrderState[], changes: Partial<ProtectionView> = {}) {
  const exchange = exchangeOf(amount, orders);
  return findUnfitProtection({ exchange, entries, alarms: [], ...changes }).map(({ what }) => what);
}

describe('the audit of what protects a position', () => {
  test('finds nothing when a stop-loss and a take-profit of its size stand', () => {
    const target = hold('', { activationPrice: null, price: '61000', reduceOnly: false });
    expect(unfit('0.01', [bought, hold('buy:stop-1', {}), target])).toEqual([]);
  });

  test.each([
    [
      'a stop-loss that is larger than the position',
      '0.004',
      [hold('buy:stop-1', {})],
      ['the position in BTC_USDT is 0.004, and what protects it is 0.01'],
    ],
    [
      'a second stop-loss beside the first',
      '0.01',
      [hold('buy:stop-1', {}), hold('', { reduceOnly: false })],
      ['the position in BTC_USDT is 0.01, and what protects it is 0.02'],
    ],
    [
      'a stop-loss that stands after the position is gone',
      '0',
      [hold('buy:stop-1', {})],
      ['the position in BTC_USDT is 0, and an order that is open could open one of the other side'],
    ],
    [
      'a stop-loss of the wrong side',
      '-0.01',
      [hold('', {})],
      [
        'the position in BTC_USDT is -0.01, and an order that is open could open one of the other side',
        'of the position -0.01 in BTC_USDT 0.01 has no stop-loss',
      ],
    ],
    [
      'a position without a stop-loss',
      '0.01',
      [],
      ['of the position 0.01 in BTC_USDT 0.01 has no stop-loss'],
    ],
    [
      'a stop-loss that was triggered and did not fill',
      '0.01',
      [hold('buy:stop-1', { activated: true })],
      ['of the position 0.01 in BTC_USDT 0.01 has no stop-loss'],
    ],
    [
      'a part without a stop-loss',
      '0.01',
      [hold('buy:stop-1', { amount: '0.006' })],
      ['of the position 0.01 in BTC_USDT 0.004 has no stop-loss'],
    ],
  ])('finds %s', (_, amount, orders, whats) => {
    expect(unfit(amount, [bought, ...orders])).toEqual(whats);
  });

  test.each([
    ['is silent after an alarm of the entry', {}, []],
    ['is silent after an alarm of the market', { signalId: '', market: 'BTC_USDT' }, []],
    ['finds it after an alarm of another market', { signalId: 'spot' }, ['missing']],
    ['finds it after an alarm of another kind', { name: 'signals_waiting' }, ['missing']],
    ['finds it after an alarm before its last fill', { atMs: 1_499 }, ['missing']],
    ['finds it after an alarm of another account', { account: 'main' }, ['missing']],
  ])('%s', (_, changes, whats) => {
    const found = unfit('0.01', [bought], { alarms: [alarm(changes)] });
    expect(found.map(() => 'missing')).toEqual(whats);
  });

  test('expects no stop-loss while an outcome of the market is unknown', () => {
    const unknown = entries.map((entry) =>
      entry.signalId === 'buy' ? { ...entry, status: 'unknown' as const } : entry,
    );
    expect(unfit('0.01', [bought], { entries: unknown })).toEqual([]);
  });
});

describe('the audit of what protects a spot buy', () => {
  const onSpot = { market: 'SOL_USDT', reduceOnly: false } as const;
  const buy = fill('spot', 'buy', '6', { ...onSpot, fee: '0.006' });
  const sale = fill('sale', 'sell', '2', { ...onSpot, updatedAtMs: 1_700 });
  const stop = (amount: string) => hold('spot:stop-1', { ...onSpot, amount });

  test('finds nothing when what it bought without the fee has a stop-loss', () => {
    expect(unfit('0', [buy, stop('5.994')])).toEqual([]);
  });

  test('counts a sale against it', () => {
    expect(unfit('0', [buy, sale, stop('3.994')])).toEqual([]);
    expect(unfit('0', [buy, sale, stop('5.994')])).toEqual([
      'the position in SOL_USDT is 3.994, and what protects it is 5.994',
    ]);
  });

  test('finds one that is missing', () => {
    expect(unfit('0', [buy])).toEqual(['of the position 5.994 in SOL_USDT 5.994 has no stop-loss']);
  });
});

describe('the audit of an order that protects', () => {
  const protective = (changes: Partial<OrderState>, of: OrderState = bought): readonly string[] => {
    const exchange = exchangeOf('0.01', [of, hold('buy:stop-1', changes)]);
    const facts = { alerts: [], entries, exchange, writings: [] } as Partial<Facts> as Facts;
    const whats = checkProtection(gatherEvidence(facts)).map(({ what }) => what);
    return whats.filter((what) => what.startsWith('an order that protects'));
  };

  test('finds nothing when it only reduces what its entry filled', () => {
    expect(protective({})).toEqual([]);
  });

  test.each([
    ['one that could open a position', { reduceOnly: false }, 'it could open a position'],
    ['one of the side of its entry', { side: 'buy' }, 'it is of the side of its entry'],
    ['one in another market', { market: 'ETH_USDT' }, 'it is in another market than its entry'],
    ['one that is more than its entry filled', { amount: '0.02' }, 'it is more than its entry filled'],
  ] as const)('finds %s', (_, changes, wrong) => {
    expect(protective(changes)).toEqual([`an order that protects a position: ${wrong}`]);
  });
});
