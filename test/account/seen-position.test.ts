import { describe, expect, test } from '@jest/globals';
import { choosePosition, describeAmount } from '../../lib/account/seen-position.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { PositionSide } from '../../lib/model/order.ts';
import { claimsMarket, denyAnother, isOfAnother } from '../../lib/relay/position/one-strategy.ts';

function held(amount: string, positionSide: PositionSide = 'BOTH') {
  return { amount: parseDecimal(amount), positionSide };
}

function chosen(positions: readonly ReturnType<typeof held>[], named?: PositionSide): string {
  const result = choosePosition('BTC_PERP', positions, named);
  return result.ok ? `${describeAmount(result.position.amount)} ${result.position.side}` : result.denial.rule;
}

describe('the position that a signal is about', () => {
  test.each([
    ['one-way mode', [held('-0.5')], undefined, 'short 0.5 null'],
    ['one-way mode, with BOTH', [held('0.5')], 'BOTH', 'long 0.5 null'],
    ['one-way mode, with the side of hedge mode', [held('0.5')], 'LONG', 'one_way_mode'],
    ['no position', [], undefined, 'flat null'],
    ['hedge mode, named', [held('1', 'LONG'), held('-2', 'SHORT')], 'SHORT', 'short 2 SHORT'],
    ['hedge mode, named and not there', [held('1', 'LONG')], 'SHORT', 'flat SHORT'],
    ['one-way mode, named', [held('1')], 'LONG', 'one_way_mode'],
    ['one-way mode, the other one named', [held('1')], 'SHORT', 'one_way_mode'],
    ['hedge mode, not named', [held('1', 'LONG')], undefined, 'hedge_mode'],
    ['hedge mode, BOTH', [held('1', 'LONG'), held('-2', 'SHORT')], 'BOTH', 'hedge_mode'],
  ] as const)('%s', (_, positions, named, expected) => {
    expect(chosen(positions, named)).toBe(expected);
  });
});

describe('one strategy a market', () => {
  const signal = { ticker: 'X', market: 'BTC_PERP', timeMs: null, maxLagMs: null } as const;
  const target = {
    ...signal,
    action: 'target',
    leg: 'reduce',
    target: { unit: 'flat' },
    strategy: 'b',
  } as const;
  const close = { ...signal, action: 'close', strategy: 'b' } as const;
  const owner = { strategy: 'a', sinceMs: 0 };

  test.each([
    ['a target, without a word of the account', target, null, null, true],
    ['a close, without a word of the account', close, null, null, false],
    ['a close where a target was used', close, null, owner, true],
    ['a close, where the account says so', close, true, null, true],
    ['a target, where the account says no', target, false, owner, false],
    ['an alert without a name', { ...signal, action: 'close' }, true, owner, false],
  ] as const)('concerns %s: %#', (_, asked, oneStrategyPerMarket, found, expected) => {
    expect(claimsMarket(asked, { oneStrategyPerMarket }, found)).toBe(expected);
  });

  test.each([
    ['another strategy, long', owner, '0.000001', 'one_strategy_per_market'],
    ['another strategy, short', owner, '-1', 'one_strategy_per_market'],
    ['another strategy, flat', owner, '0', undefined],
    ['the same strategy', { strategy: 'b', sinceMs: 0 }, '1', undefined],
    ['nobody', null, '1', undefined],
  ])('when it belongs to %s', (_, found, amount, expected) => {
    const denial = isOfAnother(target, found) ? denyAnother(target, found, parseDecimal(amount), null) : null;
    expect(denial?.rule).toBe(expected);
  });
});
