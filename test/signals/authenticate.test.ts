import { describe, expect, test } from '@jest/globals';
import { checkToken } from '../../lib/signals/authenticate.ts';

describe('checkToken', () => {
  test('lets the one live token in', () => {
    expect(checkToken('token-one', ['token-one'])).toBe(true);
  });

  test('lets either of two live tokens in while one replaces the other', () => {
    expect(checkToken('token-one', ['token-one', 'token-two'])).toBe(true);
    expect(checkToken('token-two', ['token-one', 'token-two'])).toBe(true);
  });

  test('lets the last of three live tokens in', () => {
    expect(checkToken('c', ['a', 'b', 'c'])).toBe(true);
  });

  test.each(['token-on', 'token-one ', 'TOKEN-ONE', '', 'token-two', 'tökën'])(
    'keeps %j out',
    (presented) => {
      expect(checkToken(presented, ['token-one'])).toBe(false);
    },
  );

  test('keeps everything out of an account without tokens', () => {
    expect(checkToken('token-one', [])).toBe(false);
    expect(checkToken('', [])).toBe(false);
  });

  test('never takes an empty token for a live one', () => {
    expect(checkToken('', [''])).toBe(false);
    expect(checkToken('', ['', 'token-one'])).toBe(false);
  });

  test('lets a live token in beside an empty one', () => {
    expect(checkToken('token-one', ['', 'token-one'])).toBe(true);
  });
});
