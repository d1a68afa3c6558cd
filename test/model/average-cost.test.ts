import { expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import {
  type AppliedFill,
  applyFill,
  type CostFill,
  flatPosition,
  toCostFill,
} from '../../lib/model/average-cost.ts';

function fill(side: 'buy' | 'sell', amount: string, price: string, fee = '0'): CostFill {
  return { side, amount: parseDecimal(amount), price: parseDecimal(price), fee: parseDecimal(fee) };
}

function applyAll(...fills: readonly CostFill[]): readonly AppliedFill[] {
  let position = flatPosition;
  return fills.map((next) => {
    const applied = applyFill(position, next);
    position = applied.position;
    return applied;
  });
}

function describe(
  { position, realised, closed }: AppliedFill | undefined = applyFill(flatPosition, fill('buy', '0', '1')),
) {
  return [
    formatDecimal(position.amount),
    position.amount.eq(zero) ? null : formatDecimal(position.cost.div(position.amount.abs())),
    formatDecimal(realised),
    formatDecimal(closed),
  ];
}

test('fills on one side average their price, and realise only their fees', () => {
  const applied = applyAll(fill('buy', '1', '100', '0.1'), fill('buy', '3', '200', '0.6'));

  expect(applied.map(describe)).toEqual([
    ['1', '100', '-0.1', '0'],
    ['4', '175', '-0.6', '0'],
  ]);
});

test('a part that is closed realises its difference to the average price, which stays', () => {
  const applied = applyAll(fill('buy', '2', '100'), fill('buy', '2', '200'), fill('sell', '1', '170', '0.5'));

  expect(describe(applied[2])).toEqual(['3', '150', '19.5', '1']);
});

test('a short position gains when it is bought back cheaper', () => {
  const applied = applyAll(fill('sell', '2', '100'), fill('buy', '2', '90', '0.25'));

  expect(describe(applied[0])).toEqual(['-2', '100', '0', '0']);
  expect(describe(applied[1])).toEqual(['0', null, '19.75', '2']);
});

test('a fill larger than the position closes it and opens the opposite one at its own price', () => {
  const applied = applyAll(fill('buy', '1', '100'), fill('sell', '3', '90'));

  expect(describe(applied[1])).toEqual(['-2', '90', '-10', '1']);
});

test('the profits of a position closed in thirds add up to the last digit', () => {
  const applied = applyAll(
    fill('buy', '1', '10'),
    fill('buy', '2', '11'),
    fill('sell', '0.7', '12'),
    fill('sell', '1.1', '12'),
    fill('sell', '1.2', '12'),
  );
  const total = applied.reduce((sum, { realised }) => sum.plus(realised), parseDecimal('0'));

  expect(formatDecimal(total)).toBe('4');
});

test('a fee in the base currency leaves the position, and is a loss of its value', () => {
  const bought = toCostFill(
    { side: 'buy', amount: '1', price: '100', fee: '0.001', feeAsset: 'BTC' },
    { base: 'BTC', quote: 'USDT' },
  );

  const applied = applyAll(bought, fill('sell', '0.999', '100'));

  expect(applied.map(describe)).toEqual([
    ['0.999', '100', '-0.1', '0'],
    ['0', null, '0', '0.999'],
  ]);
});

test('a fee in a third currency has no price here and counts as nothing', () => {
  const bought = toCostFill(
    { side: 'sell', amount: '1', price: '100', fee: '5', feeAsset: 'WBT' },
    { base: 'BTC', quote: 'USDT' },
  );

  expect(formatDecimal(applyFill(flatPosition, bought).realised)).toBe('0');
});
