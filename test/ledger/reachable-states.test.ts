import { describe, expect, test } from '@jest/globals';
import { transitions } from '../../lib/model/outcome.ts';
import { namedMoves, reachableStates } from './reachable-states.ts';

test('the moves of the state machine are the listed ones', () => {
  expect(transitions.map(({ name, from, to }) => `${name}: ${from} → ${to}`)).toEqual(namedMoves);
});

describe('of the reachable states', () => {
  const namesOf = (pattern: RegExp) => Object.keys(reachableStates).filter((state) => pattern.test(state));

  test('only sending, placed and unknown entries have an open order', () => {
    expect(namesOf(/, open/).filter((state) => !/^(sending|placed|unknown),/.test(state))).toEqual([]);
  });

  test('every unknown entry has a lookup due now or later, and no other entry has', () => {
    expect(namesOf(/, lookup (due|later)$/)).toEqual(namesOf(/^unknown/));
  });

  test('an accepted entry has no order', () => {
    expect(namesOf(/^accepted/)).toEqual(['accepted, waiting']);
  });
});
