import { describe, expect, test } from '@jest/globals';
import { formatRatio, formatRatios, percentileOf, ratioOf, spreadOf } from './statistics.ts';

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
    expect(spreadOf([100, 9, 20])).toEqual({ median: 20, low: 9, high: 100 });
  });

  test('there are none of nothing', () => {
    expect(() => percentileOf([], 0.5)).toThrow(RangeError);
  });
});

describe('the bounds of a median', () => {
  // From tables of the sign test, two-sided, 5 %.
  test.each([
    [1, 1, 1, 1],
    [5, 3, 1, 5],
    [6, 3, 1, 6],
    [9, 5, 2, 8],
    [15, 8, 4, 12],
    [21, 11, 6, 16],
  ])('of 1 to %i are: median %i, from %i to %i', (count, median, low, high) => {
    const values = Array.from({ length: count }, (_, index) => index + 1);

    expect(spreadOf(values)).toEqual({ median, low, high });
  });
});

describe('ratios', () => {
  test('are taken round by round, so that a slow round does not move them', () => {
    expect(ratioOf([20, 300, 44], [10, 100, 20])).toEqual({ median: 2.2, low: 2, high: 3 });
  });

  test('there are none of series that were not measured in turns', () => {
    expect(() => ratioOf([1, 2], [1])).toThrow('2 rounds cannot be compared with 1');
    expect(() => ratioOf([], [])).toThrow(RangeError);
  });
});

test('ratios are written with two places, and with their bounds', () => {
  expect(formatRatio(2)).toBe('2.00×');
  expect(formatRatios({ median: 2, low: 1.5, high: 12.345 })).toBe('2.00× (1.50–12.35)');
});
