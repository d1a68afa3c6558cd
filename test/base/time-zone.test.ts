import { expect, test } from '@jest/globals';
import { startOfDayAt } from '../../lib/base/time-zone.ts';

test.each([
  ['Europe/Berlin', '2026-03-29T22:00:00.000Z', '2026-03-29T21:59:59.999Z', '2026-03-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T23:00:00.000Z', '2026-10-25T22:59:59.999Z', '2026-10-24T22:00:00.000Z'],
  // The clocks skip the hour after midnight.
  ['America/Santiago', '2025-09-07T04:00:00.000Z', '2025-09-07T03:59:59.999Z', '2025-09-06T04:00:00.000Z'],
  ['Africa/Cairo', '2025-04-24T22:00:00.000Z', '2025-04-24T21:59:59.999Z', '2025-04-23T22:00:00.000Z'],
])(
  'in %s a day begins at %s, and a millisecond before it is still the day before',
  (timeZone, start, last, before) => {
    const startOf = (time: string) => new Date(startOfDayAt(Date.parse(time), timeZone)).toISOString();
    expect(startOf(start)).toBe(start);
    expect(startOf(new Date(Date.parse(start) + 3_600_000).toISOString())).toBe(start);
    expect(startOf(last)).toBe(before);
  },
);
