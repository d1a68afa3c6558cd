import { describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { readShippedConfig, shipConfig } from '../../lib/host/shipped-config.ts';

function configOf(account: object, market: object = {}, dialect = 'live') {
  return {
    exchange: { address: 'global', dialect },
    tickers: {},
    maxLagSeconds: 60,
    accounts: {
      main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'margin', ...market } }, ...account },
    },
  };
}

function issuesOf(config: unknown): readonly string[] {
  try {
    parseConfig(config);
    return [];
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return (error.issues ?? []).map(({ path, message }) => `${path}: ${message}`);
  }
}

const all = {
  maxOpenNotional: '5000',
  maxDailyLoss: '100.5',
  coolDownAfterLoss: 30,
  tradingWindows: [
    { days: ['mon', 'fri'], from: '22:00', until: '06:30' },
    { from: '00:00', until: '24:00' },
  ],
  timeZone: 'Europe/Kyiv',
};

describe('The limits of risk in relay.config.ts', () => {
  test('are off by default', () => {
    const { accounts } = parseConfig(configOf({ timeZone: 'Europe/Kyiv' })).settings;

    expect(accounts['main']).not.toHaveProperty('limits');
    expect(accounts['main']?.markets['BTC_USDT']?.maxPosition).toBeNull();
  });

  test('are read with their units, and survive the way into a function', () => {
    const config = parseConfig(configOf(all, { maxPosition: '0.02' }));

    const everyDay = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
    expect(JSON.parse(JSON.stringify(config.settings.accounts['main']?.limits))).toEqual({
      maxOpenNotional: '5000',
      maxDailyLoss: '100.5',
      coolDownMs: 1_800_000,
      tradingWindows: [
        { days: ['mon', 'fri'], fromMinute: 1320, untilMinute: 390 },
        { days: everyDay, fromMinute: 0, untilMinute: 1440 },
      ],
      timeZone: 'Europe/Kyiv',
    });
    expect(readShippedConfig(shipConfig(config))).toEqual(config);
  });

  test.each([
    [configOf({ maxDailyLoss: '0' }), 'accounts.main.maxDailyLoss: must be a positive decimal'],
    [configOf({ coolDownAfterLoss: 0 }), 'accounts.main.coolDownAfterLoss: '],
    [configOf({ timeZone: 'Kyiv' }), 'accounts.main.timeZone: must be a name of the tz database'],
    [
      configOf({ tradingWindows: [{ from: '9:00', until: '10:00' }] }),
      'accounts.main.tradingWindows.0.from: must be a time',
    ],
    [
      configOf({ tradingWindows: [{ from: '09:00', until: '09:00' }] }),
      'accounts.main.tradingWindows.0.until: must differ',
    ],
    [configOf({ tradingWindows: [] }), 'accounts.main.tradingWindows: '],
    [
      configOf({}, { tradesOn: 'spot', maxPosition: '1' }),
      'accounts.main.markets.BTC_USDT.maxPosition: is set, and a spot market',
    ],
  ])('are refused when they make no sense', (config, issue) => {
    expect(issuesOf(config)).toEqual([expect.stringContaining(issue)]);
  });

  test('are refused in the dialect that lists neither positions nor fills, but for the windows', () => {
    const issues = issuesOf(configOf(all, { maxPosition: '0.02' }, 'documented'));

    expect(issues.map((issue) => issue.split(':')[0])).toEqual([
      'accounts.main.markets.BTC_USDT.maxPosition',
      'accounts.main.maxOpenNotional',
      'accounts.main.maxDailyLoss',
      'accounts.main.coolDownAfterLoss',
    ]);
    expect(issuesOf(configOf({ tradingWindows: all.tradingWindows }, {}, 'documented'))).toEqual([]);
  });
});
