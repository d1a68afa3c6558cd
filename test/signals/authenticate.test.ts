import { describe, expect, test } from '@jest/globals';
import { checkToken } from '../../lib/signals/authenticate.ts';

describe('checkToken', () => {
  test('accepts the one live token', () => {
    expect(checkToken('token-one', ['token-one'])).toBe(true);
  });

  test('accepts either of two live tokens while one replaces the other', () => {
    expect(checkToken('token-one', ['token-one', 'token-two'])).toBe(true);
    expect(checkToken('token-two', ['token-one', 'token-two'])).toBe(true);
  });

  test('accepts the last of three live tokens', () => {
    expect(checkToken('c', ['a', 'b', 'c'])).toBe(true);
  });

  test.each(['token-on', 'token-one ', 'TOKEN-ONE', '', 'token-two', 'tökën'])(
    'keeps %j out',
    (presented) => {
      expect(checkToken(presented, ['token-one'])).toBe(false);
    },
  );

  test('refuses every token for an account without tokens', () => {
    expect(checkToken('token-one', [])).toBe(false);
    expect(checkToken('', [])).toBe(false);
  });

  test('never accepts an empty token', () => {
    expect(checkToken('', [''])).toBe(false);
    expect(checkToken('', ['', 'token-one'])).toBe(false);
  });

  test('accepts a live token besides an empty one', () => {
    expect(checkToken('token-one', ['', 'token-one'])).toBe(true);
  });
});
