import { expect, test } from '@jest/globals';
import { pauseKindOf } from '../../lib/ledger/ledger.ts';

test.each([
  ['entries', 'maxDailyLoss: near', 'entries'],
  ['everything', 'maxDailyLoss: near', 'everything'],
  ['daily_loss', 'the account has lost 20 USDT', 'daily_loss'],
  [null, 'maxDailyLoss: the account has lost 20 USDT', 'daily_loss'],
  [null, 'news', 'everything'],
  ['a word of a newer release', 'news', 'everything'],
])('a pause stored as %s with the reason "%s" stops %s', (stored, reason, expected) => {
  expect(pauseKindOf(stored, reason)).toBe(expected);
});
