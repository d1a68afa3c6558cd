import { expect, test } from '@jest/globals';
import { systemClock } from '../../lib/base/clock.ts';

test('the system clock returns milliseconds since 1970 and wakes sleepers', async () => {
  const beforeMs = Date.now();
  await systemClock.sleep(1);
  expect(systemClock.nowMs()).toBeGreaterThanOrEqual(beforeMs);
  expect(Number.isInteger(systemClock.nowMs())).toBe(true);
});
