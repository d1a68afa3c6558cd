import { describe, expect, test } from '@jest/globals';
import { checkStaleness, lastFreshMs } from '../../lib/signals/staleness.ts';
import { orderSignal } from './reading.ts';

const timed = { ...orderSignal, timeMs: 1_000_000, maxLagMs: 60_000 };
/** Much later than the alert fired, so that the tests distinguish the two. */
const arrival = { receivedAtMs: 1_990_000, defaultMaxLagMs: 5_000 };

describe('checkStaleness', () => {
  test('an alert is fresh up to and at its largest lag', () => {
    expect(checkStaleness(timed, arrival, 1_000_000)).toBeNull();
    expect(checkStaleness(timed, arrival, 1_060_000)).toBeNull();
  });

  test('an alert is stale a millisecond later, and says how old it is', () => {
    expect(checkStaleness(timed, arrival, 1_060_001)).toEqual({
      rule: 'stale',
      limit: '60 s',
      actual: '60.001 s',
      message:
        'the alert is 60.001 s old, and at most 60 s is allowed; raise maxLag if that delay is acceptable, or send {{timenow}} if the time was {{time}}, which is the beginning of the bar',
    });
  });

  test('an alert without a time is not told of the time of the bar', () => {
    const untimed = { ...timed, timeMs: null, maxLagMs: null };

    expect(checkStaleness(untimed, arrival, 1_995_001)?.message).toBe(
      'the alert is 5.001 s old, and at most 5 s is allowed; raise maxLag if that delay is acceptable',
    );
  });

  test('an alert from a clock that runs ahead is fresh', () => {
    expect(checkStaleness(timed, arrival, 996_000)).toBeNull();
  });

  test('an alert whose time is a minute ahead is fresh, and a millisecond more is denied with both numbers', () => {
    expect(checkStaleness(timed, arrival, 940_000)).toBeNull();
    expect(checkStaleness(timed, arrival, 939_999)).toEqual({
      rule: 'stale',
      limit: '60 s ahead',
      actual: '60.001 s ahead',
      message:
        "the alert's time is 60.001 s ahead of this machine's clock, and at most 60 s is allowed: its age is unknown; correct the clock",
    });
  });

  test('an alert without a time that came before the clock was set back is denied, too', () => {
    const silent = { ...timed, timeMs: null, maxLagMs: null };
    expect(checkStaleness(silent, arrival, 1_930_000)).toBeNull();
    expect(checkStaleness(silent, arrival, 1_929_999)).toMatchObject({ actual: '60.001 s ahead' });
  });

  test('an alert without a time is as old as its arrival, and may be as old as the configuration says', () => {
    const silent = { ...timed, timeMs: null, maxLagMs: null };
    expect(checkStaleness(silent, arrival, 1_995_000)).toBeNull();
    expect(checkStaleness(silent, arrival, 1_995_001)).toMatchObject({ limit: '5 s', actual: '5.001 s' });
  });

  test('the last fresh millisecond is the one at which the alert is still fresh', () => {
    expect(lastFreshMs(timed, arrival)).toBe(1_060_000);
    expect(lastFreshMs({ ...timed, timeMs: null, maxLagMs: null }, arrival)).toBe(1_995_000);
  });
});
