import { describe, expect, test } from '@jest/globals';
import { createRateWindow } from '../../lib/paper/requests/rate-window.ts';

describe('a rate window', () => {
  test('admits the given number in any 10 seconds, and not one more', () => {
    const fits = createRateWindow(3);

    expect([0, 4000, 9999, 9999].map(fits)).toEqual([true, true, true, false]);
    // The first request is 10 seconds old now. Rejected requests do not count.
    expect([10_000, 10_000, 13_999, 14_000].map(fits)).toEqual([true, false, false, true]);
  });

  test('does so over a long time', () => {
    const fits = createRateWindow(2);

    const passed = Array.from({ length: 1000 }, (_, index) => fits(index * 2500)).filter(Boolean);

    expect(passed).toHaveLength(500);
  });
});
