import { expect, test } from '@jest/globals';
import { describeUntold } from '../../../infra/local/notice-loop.ts';
import { parseConfig } from '../../../lib/host/config.ts';
import { testConfig } from '../../support/world.ts';

const { settings, notices } = parseConfig(testConfig);

test('live trading while nobody is told is said at the start, with the accounts', () => {
  expect(describeUntold(notices, settings.accounts, false)).toMatch(
    /^main, slow: the mode is "live", and NOBODY/,
  );
});

test.each([
  ['with a channel', { ...notices, channels: ['slack'] as const }, settings.accounts, false],
  ['on paper', notices, settings.accounts, true],
  ['while nothing is live', notices, { rehearsal: settings.accounts['rehearsal'] }, false],
] as const)('nothing is said %s', (_, told, accounts, isPaper) => {
  expect(describeUntold(told, accounts as typeof settings.accounts, isPaper)).toBeNull();
});
