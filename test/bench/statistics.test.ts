import { describe, expect, test } from '@jest/globals';
import { formatRatio, formatSpread, percentileOf, spreadOf } from './statistics.ts';

describe('percentiles', () => {
  const oneToHundred = Array.from({ length: 100 }, (_, index) => 100 - index);

  test.each([
    [0, 1],
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ])('of 1 to 100, in any order: %d is %i', (share, value) => {
    expect(percentileOf(oneToHundred, share)).toBe(value);
  });

  test('are values that were measured, also of few', () => {
    expect(percentileOf([7], 0.99)).toBe(7);
    expect(percentileOf([10, 20], 0.5)).toBe(10);
  });

  test('sort by size, not by spelling', () => {
    expect(spreadOf([100, 9, 20])).toEqual({ median: 20, least: 9, most: 100 });
  });

  test('there are none of nothing', () => {
    expect(() => percentileOf([], 0.5)).toThrow(RangeError);
  });
});

test('figures are written with their spread, ratios with two places', () => {
  expect(formatSpread({ median: 1234.56, least: 1000, most: 2000.04 }, 1)).toBe('1,234.6 (1,000.0–2,000.0)');
  expect(formatRatio(2)).toBe('2.00×');
});
