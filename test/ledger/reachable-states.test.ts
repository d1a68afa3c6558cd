import { describe, expect, test } from '@jest/globals';
import { transitions } from '../../lib/model/outcome.ts';
import { namedMoves, reachableStates } from './reachable-states.ts';

test('the moves of the state machine are those listed', () => {
  expect(transitions.map(({ name, from, to }) => `${name}: ${from} → ${to}`)).toEqual(namedMoves);
});

describe('of the reachable states', () => {
  const namesOf = (pattern: RegExp) => Object.keys(reachableStates).filter((state) => pattern.test(state));

  test('only what was placed, or may have been, has an open order', () => {
    expect(namesOf(/, open/).filter((state) => !/^(sending|placed|unknown),/.test(state))).toEqual([]);
  });

  test('every unknown one is to be looked for, and no other', () => {
    expect(namesOf(/, look (due|to come)$/)).toEqual(namesOf(/^unknown/));
  });

  test('nothing is known of an order before it is on its way', () => {
    expect(namesOf(/^accepted/)).toEqual(['accepted, waiting']);
  });
});
