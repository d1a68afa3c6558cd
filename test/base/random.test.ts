import { expect, test } from '@jest/globals';
import { createRandom } from '../../lib/base/random.ts';

function take(seed: number, count: number): readonly number[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, random);
}

test('the same seed gives the numbers of the published generator, on every machine', () => {
  expect(take(0, 4)).toEqual([
    0.26642920868471265, 0.0003297457005828619, 0.2232720274478197, 0.1462021479383111,
  ]);
  expect(take(1, 2)).toEqual([0.6270739405881613, 0.002735721180215478]);
});

test('another seed gives other numbers', () => {
  expect(take(7, 3)).not.toEqual(take(8, 3));
});

test('numbers stay in [0, 1) and spread evenly', () => {
  const numbers = take(42, 20_000);
  const inLowerHalf = numbers.filter((number) => number < 0.5).length;
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(inLowerHalf).toBeGreaterThan(9_700);
  expect(inLowerHalf).toBeLessThan(10_300);
});
