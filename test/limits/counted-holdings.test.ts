import { describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import {
  type CountedOrder,
  type Exposure,
  onlyReduces,
  openNotionalOf,
  positionAfter,
  withPlanned,
} from '../../lib/limits/counted-holdings.ts';
import type { OrderRequest } from '../../lib/model/order.ts';

const market = 'BTC_USDT';

function exposureOf(amount: string, ...orders: readonly Partial<CountedOrder>[]): Exposure {
  const position = {
    market,
    amount: parseDecimal(amount),
    positionSide: 'BOTH',
    notional: parseDecimal('100'),
  } as const;
  return { positions: amount === '0' ? [] : [position], orders: orders.map((order) => orderOf(order)) };
}

function orderOf(order: Partial<CountedOrder>): CountedOrder {
  const one = parseDecimal('1');
  return {
    market,
    side: 'buy',
    amount: one,
    notional: parseDecimal('10'),
    onlyReduces: false,
    rests: true,
    ...order,
  };
}

function reduces(amount: string, order: Partial<OrderRequest>, exposure: Exposure, isSpot = false): boolean {
  const baseAmount = parseDecimal(amount);
  const asked: OrderRequest = {
    type: 'market',
    market,
    side: 'sell',
    amount: baseAmount,
    clientOrderId: 'c',
    ...order,
  };
  return onlyReduces(
    { sized: { order: asked, baseAmount, notional: baseAmount }, notional: baseAmount, isSpot },
    exposure,
  );
}

describe('An order only reduces', () => {
  test.each([
    ['when it is marked so', reduces('5', { reduceOnly: true }, exposureOf('0')), true],
    ['when it closes a side in hedge mode', reduces('5', { positionSide: 'LONG' }, exposureOf('0')), true],
    ['but not when it opens one', reduces('5', { positionSide: 'SHORT' }, exposureOf('5')), false],
    ['when it sells on spot', reduces('5', {}, exposureOf('0'), true), true],
    ['but not when it buys on spot', reduces('5', { side: 'buy' }, exposureOf('0'), true), false],
    ['when it is as large as the position against it', reduces('2', {}, exposureOf('2')), true],
    ['but not when it is larger', reduces('2.1', {}, exposureOf('2')), false],
    ['when it buys back a short position', reduces('2', { side: 'buy' }, exposureOf('-2')), true],
    ['but not on the side of the position', reduces('1', { side: 'buy' }, exposureOf('2')), false],
    ['although another order rests on its side', reduces('2', {}, exposureOf('2', { side: 'sell' })), true],
    [
      'but not if it rests itself, and that one goes first',
      reduces('2', { type: 'limit', price: parseDecimal('9') }, exposureOf('2', { side: 'sell' })),
      false,
    ],
    [
      'and not while another may have been carried out',
      reduces('2', {}, exposureOf('2', { side: 'sell', rests: false })),
      false,
    ],
    [
      'and not while another one may have closed the position',
      reduces('1.1', {}, exposureOf('2', { side: 'sell', onlyReduces: true, rests: false })),
      false,
    ],
    [
      'but what that one leaves may be closed',
      reduces('1', {}, exposureOf('2', { side: 'sell', onlyReduces: true, rests: false })),
      true,
    ],
  ])('%s', (_, actual, expected) => {
    expect(actual).toBe(expected);
  });
});

describe('The position after an order', () => {
  const positionWith = (amount: string, fillsNow: boolean, exposure: Exposure) =>
    formatDecimal(
      positionAfter({ market, side: 'buy' }, { amount: parseDecimal(amount), fillsNow }, exposure),
    );

  test('includes the open entry orders of its side, and neither exits nor other sides', () => {
    const exposure = exposureOf('2', {}, { onlyReduces: true }, { side: 'sell' }, { market: 'ETH_USDT' });

    expect(positionWith('3', true, exposure)).toBe('6');
  });

  test('counts on a position against it only when it is carried out at once', () => {
    expect(positionWith('3', true, exposureOf('-2'))).toBe('1');
    expect(positionWith('3', false, exposureOf('-2'))).toBe('3');
  });

  test('does not count on what a closing order may have taken from a position against it', () => {
    const closing = { onlyReduces: true, rests: false } as const;

    expect(positionWith('3', true, exposureOf('-2', closing))).toBe('2');
    expect(positionWith('3', true, exposureOf('-2', closing, closing, closing))).toBe('3');
    expect(positionWith('3', true, exposureOf('2', closing))).toBe('5');
    // A stop-loss that waits for its price closes nothing before.
    expect(positionWith('3', true, exposureOf('-2', { ...closing, rests: true }))).toBe('1');
  });

  test('in hedge mode counts only the side that it names', () => {
    const long = {
      market,
      amount: parseDecimal('2'),
      positionSide: 'LONG',
      notional: parseDecimal('1'),
    } as const;
    const short = { ...long, amount: parseDecimal('-7'), positionSide: 'SHORT' } as const;
    const order = { market, side: 'buy', positionSide: 'LONG' } as const;

    expect(
      formatDecimal(
        positionAfter(
          order,
          { amount: parseDecimal('1'), fillsNow: true },
          { positions: [long, short], orders: [] },
        ),
      ),
    ).toBe('3');
  });
});

test('what is open is worth its positions and entry orders', () => {
  const exposure = exposureOf('-2', {}, { onlyReduces: true }, { side: 'sell', market: 'ETH_USDT' });

  expect(formatDecimal(openNotionalOf(exposure))).toBe('120');
});

describe('A position that an order was planned on counts where the lists show less at stake', () => {
  const [closing, opening] = [
    { onlyReduces: true, rests: false, amount: parseDecimal('2') },
    { rests: false, amount: parseDecimal('2') },
  ];

  test.each([
    ['0', exposureOf('2'), 'sell', '3', '103'],
    ['0', exposureOf('2', { ...closing, side: 'sell' }), 'sell', '3', '103'],
    ['2', exposureOf('0'), 'buy', '5', '5'],
    ['2', exposureOf('0', opening), 'buy', '5', '13'],
    ['2', exposureOf('2'), 'buy', '5', '103'],
    ['1', exposureOf('2'), 'buy', '5', '103'],
    ['-1', exposureOf('-2'), 'buy', '2', '103'],
  ] as const)('%s, %j: %s', (planned, exposure, side, after, notional) => {
    const baseAmount = parseDecimal('3');
    const order: OrderRequest = { type: 'market', market, side, amount: baseAmount, clientOrderId: 'c' };
    const checked = {
      sized: { order, baseAmount, notional: baseAmount },
      notional: baseAmount,
      isSpot: false,
    };

    const all = withPlanned(exposure, checked, parseDecimal(planned));

    expect(formatDecimal(positionAfter(order, { amount: baseAmount, fillsNow: true }, all))).toBe(after);
    expect(formatDecimal(openNotionalOf(all).plus(baseAmount))).toBe(notional);
  });
});
