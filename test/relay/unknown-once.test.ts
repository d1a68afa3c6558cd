import { expect, test } from '@jest/globals';
import { raiseUnknownOnce } from '../../lib/relay/settle/unknown-once.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { recordAlarms } from '../support/record-alarms.ts';

const unknown = { name: 'outcome_unknown', message: 'signal outcome unknown' } as const;

test('an unknown outcome is told once in 45 seconds for each signal, and every other alarm each time', () => {
  const clock = createManualClock(1_000_000);
  const { alarms: recorded, raised } = recordAlarms();
  const alarms = raiseUnknownOnce(recorded, clock);
  const told = (
    facts: { account: string; signalId: string },
    alarm: typeof unknown | typeof other = unknown,
  ) => {
    const before = raised.length;
    alarms.raise(alarm, facts);
    return raised.length - before;
  };
  const other = { name: 'orders_left_open', message: '' } as const;
  const a = { account: 'main', signalId: 'a' };

  expect([told(a), told(a), told({ ...a, signalId: 'b' }), told({ ...a, account: 'second' })]).toEqual([
    1, 0, 1, 1,
  ]);
  expect([told(a, other), told(a, other)]).toEqual([1, 1]);
  clock.advance(44_999);
  expect(told(a)).toBe(0);
  clock.advance(1);
  expect([told(a), told(a)]).toEqual([1, 0]);
  clock.advance(-3_600_000);
  expect(told(a)).toBe(1);
});
