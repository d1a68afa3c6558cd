import { describe, expect, test } from '@jest/globals';
import { formatDecimal } from '../../lib/base/decimal.ts';
import { RelayError } from '../../lib/base/errors.ts';
import { parseConfig } from '../../lib/host/config.ts';
import shipped from '../../relay.config.example.ts';

function faultsOf(config: unknown): readonly string[] {
  try {
    parseConfig(config);
  } catch (error) {
    if (error instanceof RelayError && error.code === 'config_invalid')
      return error.issues.map(({ path }) => path);
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  test('as shipped is valid, trades five markets on paper and rehearses two', () => {
    const { settings, exchange } = parseConfig(shipped);

    expect(exchange).toEqual({ address: 'global', dialect: 'live' });
    expect(Object.keys(settings.accounts['main']?.markets ?? {})).toEqual([
      'BTC_USDT',
      'BTC_PERP',
      'ETH_USDT',
      'SOL_USDT',
      'DBTC_DUSDT',
    ]);
    expect(settings.accounts['main']?.mode).toBe('paper');
    expect(settings.accounts['rehearsal']?.mode).toBe('dry-run');
    expect(settings.defaultMaxLagMs).toBe(60_000);
  });

  test('of the first release is still valid once each market says where it trades', () => {
    const { settings, snapshots } = parseConfig({
      exchange: { address: 'global', dialect: 'live' },
      tickers: { BTCUSDT: 'BTC_USDT' },
      maxLagSeconds: 60,
      accounts: {
        main: {
          mode: 'live',
          limitOffset: '0.1%',
          markets: {
            BTC_USDT: { tradesOn: 'margin', sides: ['buy', 'sell'], maxAmount: '1', maxNotional: '100000' },
          },
          maxOrdersPerMinute: 60,
          maxSignalsPerMinute: 120,
        },
        rehearsal: { mode: 'dry-run', limitOffset: '0.1%', markets: { BTC_USDT: { tradesOn: 'margin' } } },
      },
    });

    expect(Object.values(settings.accounts).map(({ mode }) => mode)).toEqual(['live', 'dry-run']);
    expect(snapshots.balances).toBe('cron(0 * * * ? *)');
  });

  test('turns per cents into rates and leaves out what is not limited', () => {
    const { settings } = parseConfig({
      ...shipped,
      accounts: { a: { mode: 'live', limitOffset: '0.25%', markets: { BTC_USDT: { tradesOn: 'margin' } } } },
    });
    const account = settings.accounts['a'];

    expect(account?.limitOffsetRate && formatDecimal(account.limitOffsetRate)).toBe('0.0025');
    expect(account).toMatchObject({
      name: 'a',
      markets: {
        BTC_USDT: { tradesOn: 'margin', sides: ['buy', 'sell'], maxAmount: null, maxNotional: null },
      },
      maxOrdersPerMinute: null,
      maxSignalsPerMinute: null,
    });
  });

  test('with several issues names them all, each with its path', () => {
    const faults = faultsOf({
      exchange: { address: 'http://example.com', dialect: 'klingon' },
      tickers: { BTCUSDT: 'BTCUSDT' },
      maxLagSeconds: 0,
      accounts: {
        main: {
          mode: 'real',
          limitOffset: '0.1',
          markets: { BTC_USDT: { tradesOn: 'margin', maxAmount: 5, maxNotional: '-1', sides: [] } },
          maxOrdersPerMinute: 0,
          surprise: true,
        },
        'Bad Name': { mode: 'live', markets: {} },
      },
    });

    expect([...faults].sort()).toEqual([
      'accounts.Bad Name',
      'accounts.main',
      'accounts.main.limitOffset',
      'accounts.main.markets.BTC_USDT.maxAmount',
      'accounts.main.markets.BTC_USDT.maxNotional',
      'accounts.main.markets.BTC_USDT.sides',
      'accounts.main.maxOrdersPerMinute',
      'accounts.main.mode',
      'exchange.address',
      'exchange.dialect',
      'maxLagSeconds',
      'tickers.BTCUSDT',
    ]);
  });

  test.each(['100%', '-1%', 'abc%', '1e9%'])('refuses a limit offset of %s', (limitOffset) => {
    expect(faultsOf({ ...shipped, accounts: { a: { mode: 'live', limitOffset, markets: {} } } })).toEqual([
      'accounts.a.limitOffset',
    ]);
  });

  test('allows a limit price 3 % beyond its stop price, unless an account sets another distance', () => {
    const rateOf = (changes: object) =>
      parseConfig({ ...shipped, accounts: { a: { mode: 'live', markets: {}, ...changes } } }).settings
        .accounts['a']?.maxLimitDistanceRate;

    expect(rateOf({})?.toFixed()).toBe('0.03');
    expect(rateOf({ maxLimitDistance: '0.5%' })?.toFixed()).toBe('0.005');
    expect(rateOf({ maxLimitDistance: '0%' })?.toFixed()).toBe('0');
    expect(rateOf({ maxLimitDistance: null })).toBeNull();
  });

  test.each(['100%', '-1%', '3', 3])('refuses a limit distance of %s', (maxLimitDistance) => {
    expect(
      faultsOf({ ...shipped, accounts: { a: { mode: 'live', maxLimitDistance, markets: {} } } }),
    ).toEqual(['accounts.a.maxLimitDistance']);
  });

  test('refuses a limit offset above the limit distance, and names both', () => {
    const parse = (changes: object) => () =>
      parseConfig({ ...shipped, accounts: { a: { mode: 'live', markets: {}, ...changes } } });

    expect(parse({ limitOffset: '5%' })).toThrow(
      expect.objectContaining({
        issues: [
          {
            path: 'accounts.a.limitOffset',
            message:
              'is 5%, more than maxLimitDistance (3%): every order without a limit price would be denied; lower limitOffset, or raise maxLimitDistance',
            hint: 'see the comments in relay.config.example.ts',
          },
        ],
      }),
    );
    for (const changes of [
      { limitOffset: '3%' },
      { limitOffset: '5%', maxLimitDistance: '5%' },
      { limitOffset: '50%', maxLimitDistance: null },
    ])
      expect(parse(changes)).not.toThrow();
  });

  const issuesOf = (changes: object, exchange: object = shipped.exchange) => {
    try {
      parseConfig({ ...shipped, exchange, accounts: { a: { mode: 'live', markets: {}, ...changes } } });
    } catch (error) {
      if (error instanceof RelayError && error.code === 'config_invalid')
        return error.issues.map(({ path, message }) => ({ path, message }));
      throw error;
    }
    return [];
  };

  test('refuses a market that does not say where it trades, with the line that keeps what it did', () => {
    expect(issuesOf({ markets: { BTC_USDT: {}, BTC_PERP: { maxAmount: '1' } } })).toEqual([
      {
        path: 'accounts.a.markets.BTC_USDT.tradesOn',
        message:
          "is missing: every market says on which account of the exchange it trades, 'spot', 'margin' or 'futures'. Add tradesOn: 'margin' or tradesOn: 'spot' to its entry; one from before this setting meant 'margin'",
      },
      {
        path: 'accounts.a.markets.BTC_PERP.tradesOn',
        message:
          "is missing: every market says on which account of the exchange it trades, 'spot', 'margin' or 'futures'. Add tradesOn: 'futures' to its entry",
      },
    ]);
    expect(issuesOf({ markets: { BTC_USDT: { tradesOn: 'collateral' } } })).toEqual([
      { path: 'accounts.a.markets.BTC_USDT.tradesOn', message: "must be 'spot', 'margin' or 'futures'" },
    ]);
  });

  test.each(['spot', 'margin'])('refuses a perpetual market on %s, with the line to write', (tradesOn) => {
    expect(issuesOf({ markets: { BTC_PERP: { tradesOn } } })).toEqual([
      {
        path: 'accounts.a.markets.BTC_PERP.tradesOn',
        message: `is '${tradesOn}', and a perpetual market trades on futures alone: write tradesOn: 'futures'`,
      },
    ]);
  });

  test('refuses a spot pair on futures, with the lines to choose from', () => {
    expect(issuesOf({ markets: { BTC_USDT: { tradesOn: 'futures' } } })).toEqual([
      {
        path: 'accounts.a.markets.BTC_USDT.tradesOn',
        message:
          "is 'futures', and only perpetual markets (…_PERP) trade there: write tradesOn: 'margin' or tradesOn: 'spot'",
      },
    ]);
  });

  test.each(['100%', '-0.1%', '0.5', 0.5])('refuses a maxSlippage of %j', (maxSlippage) => {
    expect(issuesOf({ maxSlippage })).toMatchObject([{ path: 'accounts.a.maxSlippage' }]);
  });

  test('takes a maxSlippage from 0% to just below 100%, and has none unless it is set', () => {
    const rateOf = (changes: object) =>
      parseConfig({ ...shipped, accounts: { a: { mode: 'live', markets: {}, ...changes } } }).settings
        .accounts['a']?.maxSlippageRate;

    expect(rateOf({ maxSlippage: '0%' })?.toFixed()).toBe('0');
    expect(rateOf({ maxSlippage: '99.99%' })?.toFixed()).toBe('0.9999');
    expect(rateOf({ maxSlippage: null })).toBeNull();
    expect(rateOf({})).toBeNull();
  });

  test.each([
    ['global', []],
    ['eu', []],
    ['https://exchange.example', []],
    ['http://127.0.0.1:8090', []],
    ['http://10.0.0.1', ['exchange.address']],
    ['ftp://127.0.0.1', ['exchange.address']],
    ['nowhere', ['exchange.address']],
  ])('checks the exchange address %s', (address, faults) => {
    const accounts = { a: { mode: 'live', markets: {} } };

    expect(faultsOf({ ...shipped, accounts, exchange: { address, dialect: 'live' } })).toEqual(faults);
  });
});

describe('an account of the EU', () => {
  const spot = { BTC_USDT: { tradesOn: 'spot' } };
  const configured = (account: object, address = 'global') => ({
    ...shipped,
    exchange: { address, dialect: 'live' },
    accounts: { a: { mode: 'live', markets: spot, ...account } },
  });
  const unguarded = { maxSlippage: null, allowUnguardedMarket: true };

  test.each([
    ['the EU address', {}, 'eu'],
    ['the EU address as a URL', {}, 'https://whitebit.eu:443/'],
    ['its own setting', { region: 'eu' }, 'global'],
  ])('by %s may trade on spot without a price bound', (_, account, address) => {
    const { settings } = parseConfig(configured({ ...unguarded, ...account }, address));

    expect(settings.accounts['a']?.region).toBe('eu');
  });

  test('is one only by address or setting', () => {
    expect(parseConfig(configured({})).settings.accounts['a']?.region).toBeNull();
  });

  test('may be set as it likes when it has no markets', () => {
    expect(faultsOf(configured({ region: 'eu', maxSlippage: '1%', markets: {} }))).toEqual([]);
  });

  test('is refused what the exchange refuses, all of it at once and with the reason', () => {
    const markets = {
      BTC_USDT: { tradesOn: 'spot' },
      ETH_USDT: { tradesOn: 'margin' },
      BTC_PERP: { tradesOn: 'futures' },
    };

    expect(() => parseConfig(configured({ maxSlippage: '0.5%', markets }, 'eu'))).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        issues: [
          expect.objectContaining({
            path: 'accounts.a.markets.ETH_USDT.tradesOn',
            message:
              "is 'margin', and the exchange has no margin and no futures here, because exchange.address is the EU address: write tradesOn: 'spot', or remove the market",
          }),
          expect.objectContaining({
            path: 'accounts.a.markets.BTC_PERP.tradesOn',
            message:
              "is 'futures', and the exchange has no margin and no futures here, because exchange.address is the EU address: remove the market",
          }),
          expect.objectContaining({
            path: 'accounts.a.maxSlippage',
            message:
              'is 0.5%, and the exchange takes no market order with a price bound here, because exchange.address is the EU address: write maxSlippage: null',
          }),
          expect.objectContaining({
            path: 'accounts.a.allowUnguardedMarket',
            message:
              'must be true, because exchange.address is the EU address: the exchange takes only market and stop-market orders here, and they fill at any price; write allowUnguardedMarket: true if you accept that',
          }),
        ],
      }),
    );
  });

  test('is named as the reason when the address is the global one', () => {
    expect(() =>
      parseConfig(configured({ region: 'eu', ...unguarded, markets: { X_USDT: { tradesOn: 'margin' } } })),
    ).toThrow(
      expect.objectContaining({
        issues: [
          expect.objectContaining({
            message: expect.stringContaining("because the account's region is 'eu'"),
          }),
        ],
      }),
    );
  });
});

describe('the aws block', () => {
  const awsOf = (aws: unknown) => parseConfig({ ...shipped, aws }).aws;

  test('may be left out, whole or in part', () => {
    const defaults = {
      allowedAddresses: [],
      alarmEmail: null,
      keepWarm: true,
      fixedAddress: false,
      keepLedgerDays: 400,
      logRetentionDays: 90,
    };
    expect(awsOf(undefined)).toEqual(defaults);
    expect(awsOf({ alarmEmail: 'me@example.com' })).toEqual({ ...defaults, alarmEmail: 'me@example.com' });
  });

  test('accepts addresses and ranges, IPv4 and IPv6', () => {
    const allowedAddresses = ['203.0.113.7', '203.0.113.0/24', '2001:db8::1', '2001:db8::/32'];
    expect(awsOf({ allowedAddresses }).allowedAddresses).toEqual(allowedAddresses);
  });

  test.each([
    [{ allowedAddresses: ['203.0.113.0/33'] }, 'aws.allowedAddresses.0'],
    [{ allowedAddresses: ['everybody'] }, 'aws.allowedAddresses.0'],
    [{ alarmEmail: 'nobody' }, 'aws.alarmEmail'],
    [{ keepLedgerDays: 0 }, 'aws.keepLedgerDays'],
    [{ logRetentionDays: 91 }, 'aws.logRetentionDays'],
    [{ surprise: 1 }, 'aws'],
  ])('refuses %j', (aws, path) => {
    expect(faultsOf({ ...shipped, aws })).toEqual([path]);
  });
});

describe('the snapshots block', () => {
  const snapshotsOf = (snapshots: unknown) => parseConfig({ ...shipped, snapshots }).snapshots;

  test('may be left out, whole or in part', () => {
    const defaults = {
      timeZone: 'Etc/UTC',
      balances: 'cron(0 * * * ? *)',
      fees: 'cron(10 0 * * ? *)',
      interest: 'cron(20 0 * * ? *)',
    };
    expect(snapshotsOf(undefined)).toEqual(defaults);
    expect(snapshotsOf({ interest: null })).toEqual({ ...defaults, interest: null });
    expect(parseConfig(shipped).snapshots).toEqual(defaults);
  });

  test('keeps a schedule as written, because AWS gets it in this form', () => {
    const snapshots = { timeZone: 'Europe/Kyiv', balances: 'cron(5/15 9-17 ? * MON-FRI *)' };
    expect(snapshotsOf(snapshots)).toMatchObject(snapshots);
  });

  test.each([
    [{ balances: 'hourly' }, 'snapshots.balances'],
    [{ fees: 'rate(1 day)' }, 'snapshots.fees'],
    [{ interest: 'cron(0 0 * * * *)' }, 'snapshots.interest'],
    [{ timeZone: 'Mars/Olympus' }, 'snapshots.timeZone'],
    [{ timeZone: '+02:00' }, 'snapshots.timeZone'],
    [{ balances: '' }, 'snapshots.balances'],
    [{ surprise: 1 }, 'snapshots'],
  ])('refuses %j', (snapshots, path) => {
    expect(faultsOf({ ...shipped, snapshots })).toEqual([path]);
  });

  test('says what is wrong with a schedule', () => {
    const parse = () => parseConfig({ ...shipped, snapshots: { balances: 'cron(60 * * * ? *)' } });
    expect(parse).toThrow(
      expect.objectContaining({
        issues: [
          {
            path: 'snapshots.balances',
            message: 'has "60" as minutes: the value must be 0 to 59',
            hint: 'see the comments in relay.config.example.ts',
          },
        ],
      }),
    );
  });
});

test('an account that closes positions by itself needs a bound for it', () => {
  const faultsWith = (account: object) =>
    faultsOf({
      ...shipped,
      accounts: {
        a: { mode: 'live', onMismatch: 'flatten', markets: { BTC_USDT: { tradesOn: 'margin' } }, ...account },
      },
    });

  expect(faultsWith({ maxSlippage: '0.5%' })).toEqual([]);
  expect(faultsWith({ allowUnguardedMarket: true })).toEqual([]);
  expect(faultsWith({ onMismatch: 'deny' })).toEqual([]);
  expect(faultsWith({})).toEqual(['accounts.a.onMismatch']);
});
