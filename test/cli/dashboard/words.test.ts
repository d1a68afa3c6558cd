import { expect, test } from '@jest/globals';
import { sendsNothing, toneOfStatus } from '../../../dashboard/words.ts';
import { statuses } from '../../../lib/model/outcome.ts';

test('each status has its colour, and only what has done what was asked looks fine', () => {
  expect(statuses.filter((status) => toneOfStatus(status) === 'good')).toEqual(['placed', 'satisfied']);
  expect(statuses.filter((status) => toneOfStatus(status) === 'alarm')).toEqual(['unknown']);
});

test.each([
  ['live', true, false],
  ['live', false, false],
  ['paper', true, false],
  ['paper', false, true],
  ['dry-run', true, true],
  ['dry-run', false, true],
] as const)('an account in mode %s, on paper: %s, sends nothing: %s', (mode, isPaper, expected) => {
  expect(sendsNothing(mode, isPaper)).toBe(expected);
});

test.each(['settled_elsewhere', '', 'constructor', 'Placed'])(
  'a status that no release of before knows is an alarm: "%s"',
  (status) => {
    expect(toneOfStatus(status)).toBe('alarm');
  },
);
