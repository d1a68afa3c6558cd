import { expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import type { Account } from '../../lib/model/account.ts';
import { createOverloadWatch } from '../../lib/relay/receive/overload.ts';
import { testConfig } from '../support/world.ts';

const accounts = parseConfig(testConfig).settings.accounts;
/** An account that accepts four signals a minute. */
const slow = accounts['slow'] as Account;
const other: Account = { ...slow, name: 'other' };

test('as many alerts are asked to come again within a minute as the account accepts signals, and further ones are not', () => {
  const watch = createOverloadWatch();

  const floods = [0, 1, 2, 59_998, 59_999, 60_000, 60_000].map(
    (atMs) => watch.note(slow, 'openings', atMs).isFlood,
  );

  expect(floods).toEqual([false, false, false, false, true, false, true]);
});

test('refusals raise one alarm in five minutes for each account', () => {
  const watch = createOverloadWatch();
  const isNewsAt = (atMs: number, account = slow) => watch.note(account, 'openings', atMs).isNews;

  expect([0, 1, 60_000, 299_999].map((atMs) => isNewsAt(atMs))).toEqual([true, false, false, false]);
  expect([isNewsAt(299_999, other), isNewsAt(300_000), isNewsAt(300_001)]).toEqual([true, true, false]);
});

test('after a clock was set back, earlier refusals neither count nor suppress the alarm', () => {
  const watch = createOverloadWatch();
  for (let count = 0; count < 9; count += 1) watch.note(slow, 'openings', 3_600_000);

  expect(watch.note(slow, 'openings', 0)).toEqual({ isFlood: false, isNews: true });
});

test('what may open and what only reduces are counted apart, each with an alarm of its own', () => {
  const watch = createOverloadWatch();
  for (let count = 0; count < 9; count += 1) watch.note(slow, 'openings', 0);

  expect(watch.note(slow, 'openings', 0)).toEqual({ isFlood: true, isNews: false });
  expect(watch.note(slow, 'reductions', 0)).toEqual({ isFlood: false, isNews: true });
});
