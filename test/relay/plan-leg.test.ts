import { describe, expect, test } from '@jest/globals';
import type { SeenPosition } from '../../lib/account/seen-position.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import {
  type LegPlan,
  planClose,
  planReverseClose,
  planReverseOpen,
  planTargetOpen,
  planTargetReduce,
} from '../../lib/relay/position/plan-leg.ts';

/** Steps of 0.01, at least 0.05. */
const market = {
  name: 'BTC_PERP',
  base: 'BTC',
  amountStep: parseDecimal('0.01'),
  minAmount: parseDecimal('0.05'),
};

function seen(amount: string, side: SeenPosition['side'] = null): SeenPosition {
  return { amount: parseDecimal(amount), side };
}

/** For example `sell 0.5 reduce-only`, or the kind of a plan without an order. */
function summary(plan: LegPlan): string {
  if (plan.kind === 'denied') return `denied ${plan.denial.rule}`;
  if (plan.kind === 'satisfied') return plan.kind;
  const { side, size, reduceOnly, positionSide } = plan.order;
  const amount = size.unit === 'base' ? size.quantity : JSON.stringify(size);
  return [side, amount, ...(reduceOnly ? ['reduce-only'] : []), ...(positionSide ? [positionSide] : [])].join(
    ' ',
  );
}

describe('a close', () => {
  test.each([
    ['0', {}, 'satisfied'],
    ['0.5', {}, 'sell 0.5 reduce-only'],
    ['-0.5', {}, 'buy 0.5 reduce-only'],
    ['0.5', { part: '50%' }, 'sell 0.25 reduce-only'],
    ['-0.5', { part: '100%' }, 'buy 0.5 reduce-only'],
    ['0.5', { unless: 'long' }, 'satisfied'],
    ['0.5', { unless: 'short' }, 'sell 0.5 reduce-only'],
    ['0.5', { unless: 'flat' }, 'sell 0.5 reduce-only'],
    ['0', { unless: 'flat' }, 'satisfied'],
    ['0', { unless: 'long' }, 'satisfied'],
    // Less than one step: no order could close it.
    ['0.004', {}, 'satisfied'],
  ] as const)('of %s, %j: %s', (amount, signal, expected) => {
    expect(summary(planClose(signal, seen(amount), market))).toBe(expected);
  });

  test('in hedge mode names the position', () => {
    expect(summary(planClose({}, seen('-2', 'SHORT'), market))).toBe('buy 2 reduce-only SHORT');
  });
});

describe('a target, in its leg that reduces', () => {
  test.each([
    ['equal', '1', '1', 'satisfied'],
    ['less than wanted', '0.5', '1', 'satisfied'],
    ['no position', '0', '1', 'satisfied'],
    ['no position, none wanted', '0', '0', 'satisfied'],
    ['a step too much, below the least order', '1.01', '1', 'satisfied'],
    ['one step below the least order', '1.04', '1', 'satisfied'],
    ['the least order', '1.05', '1', 'sell 0.05 reduce-only'],
    ['a short one too large', '-3', '-1', 'buy 2 reduce-only'],
    ['the other side: all of it', '2', '-1', 'sell 2 reduce-only'],
    ['the other side: all of it', '-2', '1', 'buy 2 reduce-only'],
    ['none wanted', '2', '0', 'sell 2 reduce-only'],
    ['none wanted, and less than the least order left', '0.04', '0', 'satisfied'],
    ['less than the least order too much, by a size between two steps', '1.05', '1.001', 'satisfied'],
    ['the least order too much: no larger than wanted', '1.06', '1.009', 'sell 0.06 reduce-only'],
    ['less than a step wanted', '2', '-0.009', 'sell 2 reduce-only'],
    ['less than a step wanted', '2', '0.009', 'sell 2 reduce-only'],
  ])('%s: %s, wanted %s: %s', (_, amount, wanted, expected) => {
    expect(summary(planTargetReduce(parseDecimal(wanted), seen(amount), market))).toBe(expected);
  });
});

test.each([
  ['0.05', '0.046', 'satisfied'],
  ['0.01', '0.005', 'satisfied'],
  ['-0.05', '-0.046', 'satisfied'],
  ['0.06', '0.046', 'sell 0.02 reduce-only'],
  ['0.05', '0.04', 'sell 0.01 reduce-only'],
])(
  'a position of %s that should be %s, where an order may be one step of 0.01: %s',
  (amount, wanted, expected) => {
    const least = { ...market, minAmount: market.amountStep };

    expect(summary(planTargetReduce(parseDecimal(wanted), seen(amount), least))).toBe(expected);
  },
);

describe('a target, in its leg that opens', () => {
  test.each([
    ['equal', '1', '1', false, 'satisfied'],
    ['more than wanted', '2', '1', false, 'satisfied'],
    ['no position', '0', '1', false, 'buy 1'],
    ['no position, a short one wanted', '0', '-1', false, 'sell 1'],
    ['no position after the first leg', '0', '1', true, 'buy 1'],
    ['one step below the least order missing', '0.96', '1', false, 'satisfied'],
    ['the least order missing', '0.95', '1', false, 'buy 0.05'],
    ['a short one too small', '-0.5', '-2', false, 'sell 1.5'],
    ['rounded down', '0', '1.019', false, 'buy 1.01'],
    ['reduced by the first leg, and less than wanted by now', '0.5', '1', true, 'satisfied'],
    ['still on the other side', '0.01', '-1', true, 'denied position_not_closed'],
    ['still on the other side', '-0.01', '1', false, 'denied position_not_closed'],
    ['rounded to none', '1', '0', false, 'satisfied'],
  ])('%s: %s, wanted %s, reduced %s: %s', (_, amount, wanted, hasReduced, expected) => {
    expect(summary(planTargetOpen(parseDecimal(wanted), seen(amount), hasReduced, market))).toBe(expected);
  });

  test('is denied with both positions', () => {
    expect(planTargetOpen(parseDecimal('-1'), seen('0.3'), true, market)).toEqual({
      kind: 'denied',
      denial: {
        rule: 'position_not_closed',
        limit: 'flat or short',
        actual: 'long 0.3',
        message:
          'the position of BTC_PERP must be flat or short before another one is opened, and is long 0.3; nothing was opened',
      },
    });
  });
});

describe('a reverse', () => {
  test.each([
    ['1', 'sell 1 reduce-only'],
    ['-1', 'buy 1 reduce-only'],
    ['0', 'denied no_position'],
  ])('closes %s: %s', (amount, expected) => {
    expect(summary(planReverseClose(seen(amount), market))).toBe(expected);
  });

  test.each([
    ['1', '0', {}, 'sell 1'],
    ['-1', '0', {}, 'buy 1'],
    ['1', '0.01', {}, 'denied position_not_closed'],
    ['1', '-1', {}, 'denied position_not_closed'],
    ['1', '0', { size: { unit: 'base', quantity: '3' } }, 'sell 3'],
  ] as const)('of %s opens when %s is left, %j: %s', (closed, left, signal, expected) => {
    expect(summary(planReverseOpen(signal, seen(left), parseDecimal(closed), market))).toBe(expected);
  });
});

test('a position of less than one step holds back no position of the other side', () => {
  expect(summary(planReverseClose(seen('0.004'), market))).toBe('denied no_position');
  expect(summary(planReverseOpen({}, seen('-0.004'), parseDecimal('0.5'), market))).toBe('sell 0.5');
  expect(summary(planTargetReduce(parseDecimal('-0.5'), seen('0.004'), market))).toBe('satisfied');
  expect(summary(planTargetOpen(parseDecimal('-0.5'), seen('0.004'), false, market))).toBe('sell 0.5');
});
