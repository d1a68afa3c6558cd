import { expect, test } from '@jest/globals';
import { createLogAlarms } from '../../lib/base/alarms.ts';

test('an alarm is an error in the log that says it is an alarm, and which one', () => {
  const lines: unknown[] = [];
  const unexpected = () => {
    throw new Error('an alarm is an error');
  };
  const log = { info: unexpected, warn: unexpected, error: (...line: unknown[]) => void lines.push(line) };

  createLogAlarms(log).raise(
    { name: 'interest_missing', message: 'payments are missing' },
    { account: 'main' },
  );

  expect(lines).toEqual([
    ['payments are missing', { account: 'main', alarm: true, alarmName: 'interest_missing' }],
  ]);
});
