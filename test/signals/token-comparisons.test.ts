import { beforeEach, expect, jest, test } from '@jest/globals';

const crypto = await import('node:crypto');
const compared: boolean[] = [];
// The real comparison, counted. What the code under test compares in any other way is not seen here.
jest.unstable_mockModule('node:crypto', () => ({
  ...crypto,
  timingSafeEqual(one: Uint8Array, other: Uint8Array): boolean {
    const isEqual = crypto.timingSafeEqual(one, other);
    compared.push(isEqual);
    return isEqual;
  },
}));
const { checkToken } = await import('../../lib/signals/authenticate.ts');

beforeEach(() => {
  compared.length = 0;
});

test.each<[string, string, readonly string[], readonly boolean[]]>([
  ['an account without tokens, as an unknown one', 'a', [], [false, false]],
  ['one token, which is the presented one', 'a', ['a'], [true, false]],
  ['one token, which is another one', 'x', ['a'], [false, false]],
  ['two tokens, the first presented', 'a', ['a', 'b'], [true, false]],
  ['two tokens, the second presented', 'b', ['a', 'b'], [false, true]],
  ['two tokens, neither presented', 'x', ['a', 'b'], [false, false]],
  ['a token of another length', 'a'.repeat(500), ['a', 'b'], [false, false]],
  ['three tokens, the first presented', 'a', ['a', 'b', 'c'], [true, false, false]],
])('compares as often whatever is presented: %s', (_, presented, liveTokens, expected) => {
  const isLive = checkToken(presented, liveTokens);

  expect(compared).toEqual(expected);
  expect(isLive).toBe(expected.includes(true));
});

test('uses only the constant-time comparison', async () => {
  const deaf = { ...crypto, timingSafeEqual: () => false };
  jest.resetModules();
  jest.unstable_mockModule('node:crypto', () => deaf);
  const { checkToken: check } = await import('../../lib/signals/authenticate.ts');

  expect(check('a', ['a', 'a'])).toBe(false);
});
