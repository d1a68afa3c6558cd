import { describe, expect, test } from '@jest/globals';
import { findLongestPause } from '../../infra/aws/find-longest-pause.ts';

describe('The longest pause of a schedule', () => {
  test.each([
    ['cron(0 * * * ? *)', 1],
    ['cron(20 6 * * ? *)', 24],
    ['cron(0 6,18 * * ? *)', 12],
    ['cron(0 9-17 * * ? *)', 16],
    ['cron(10 6 ? * MON-FRI *)', 72],
    ['cron(0 12 ? * SUN *)', 168],
    // From the 28th of January to the 1st of February.
    ['cron(0 0 1-28 * ? *)', 96],
    ['cron(0 0 L * ? *)', 31 * 24],
  ])('of %s is %i hours', (cron, hours) => {
    expect(findLongestPause(cron, 'Etc/UTC')?.toHours()).toBe(hours);
  });

  test.each(['cron(* * * * ? *)', 'cron(0/15 * * * ? *)'])(
    'of %s is measured in steps of an hour',
    (cron) => {
      const pause = findLongestPause(cron, 'Etc/UTC');

      expect(pause?.toMinutes({ integral: false })).toBeLessThanOrEqual(60);
    },
  );

  test('is found in a schedule that runs every minute except at night', () => {
    const minutes = findLongestPause('cron(* 6-22 * * ? *)', 'Etc/UTC')?.toMinutes();

    // 22:59 to 06:00 is 421 minutes; the steps of an hour may hide up to 60 of them.
    expect(minutes).toBeGreaterThanOrEqual(361);
    expect(minutes).toBeLessThanOrEqual(421);
  });

  test.each(['cron(0 0 1 JAN ? *)', 'cron(0 0 * * ? 2027)', 'cron(0 0 31 2 ? *)', 'cron(0 0 * * ? 2020)'])(
    'of %s is null, because it cannot be computed',
    (cron) => {
      expect(findLongestPause(cron, 'Etc/UTC')).toBeNull();
    },
  );
});
