import { describe, expect, test } from '@jest/globals';
import { checkStaleness } from '../../lib/signals/staleness.ts';
import { orderSignal } from './reading.ts';

const timed = { ...orderSignal, timeMs: 1_000_000, maxLagMs: 60_000 };

describe('checkStaleness', () => {
  test('an alert is fresh up to and at its largest lag', () => {
    expect(checkStaleness(timed, 1_000_000)).toBeNull();
    expect(checkStaleness(timed, 1_060_000)).toBeNull();
  });

  test('an alert is stale a millisecond later, and says how old it is', () => {
    expect(checkStaleness(timed, 1_060_001)).toEqual({
      rule: 'stale',
      limit: '60 s',
      actual: '60.001 s',
      message: 'the alert is 60.001 s old and may be 60 s; raise maxLag if that delay is acceptable',
    });
  });

  test('an alert from a clock that runs ahead is fresh', () => {
    expect(checkStaleness(timed, 996_000)).toBeNull();
  });

  test('an alert without a time never grows stale', () => {
    expect(checkStaleness({ ...timed, timeMs: null, maxLagMs: null }, 9_999_999_999)).toBeNull();
  });

  test('a signal without a largest lag never grows stale', () => {
    expect(checkStaleness({ ...timed, maxLagMs: null }, 9_999_999_999)).toBeNull();
  });
});
