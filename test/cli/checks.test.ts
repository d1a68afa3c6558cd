import { describe, expect, test } from '@jest/globals';
import { checkQueue, checkSubscribers } from '../../cli/checks/check.ts';
import {
  checkModes,
  judgeClock,
  judgeKey,
  reportRegions,
  warnOfLimits,
} from '../../cli/checks/exchange-checks.ts';
import { checkMarketOrders, checkMarkets } from '../../cli/checks/market-checks.ts';
import { judgeAllowlist } from '../../cli/checks/stack-checks.ts';
import { describeExchange } from '../../cli/session/session.ts';
import { RelayError } from '../../lib/base/errors.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { mainBalance } from '../../lib/exchange/endpoints/main-balance.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Market } from '../../lib/model/market.ts';
import shipped from '../../relay.config.example.ts';

describe('the clock', () => {
  test.each([
    [0, 'ok', "this machine's clock agrees with the exchange's"],
    [-1000, 'ok', "this machine's clock agrees with the exchange's"],
    [1600, 'warn', "this machine's clock is 1.6 s ahead of the exchange's"],
    [-3900, 'warn', "this machine's clock is 3.9 s behind the exchange's"],
    [4000, 'fail', "this machine's clock is 4.0 s ahead of the exchange's"],
    [-60_000, 'fail', "this machine's clock is 60.0 s behind the exchange's"],
  ])('%i ms ahead is judged %s', (offsetMs, verdict, found) => {
    expect(judgeClock(offsetMs)).toMatchObject({ name: 'clock', verdict, found });
  });
});

describe('the queue', () => {
  test.each([
    [{ waiting: 0, deadLetters: 0, oldestAgeMs: null }, ['ok', 'ok'], '0 waiting'],
    [{ waiting: 7, deadLetters: 0, oldestAgeMs: null }, ['ok', 'ok'], '7 waiting'],
    [{ waiting: 2, deadLetters: 0, oldestAgeMs: 59_000 }, ['ok', 'ok'], '2 waiting, the oldest for 59 s'],
    [{ waiting: 2, deadLetters: 0, oldestAgeMs: 60_000 }, ['warn', 'ok'], '2 waiting, the oldest for 60 s'],
    [
      { waiting: 2, deadLetters: 3, oldestAgeMs: 300_000 },
      ['fail', 'fail'],
      '2 waiting, the oldest for 300 s',
    ],
  ])('with %j is judged %j', (queue, verdicts, found) => {
    const checks = checkQueue(queue);

    expect(checks.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(checks[0]?.found).toBe(found);
    expect(checks.filter(({ verdict, advice }) => (verdict === 'ok') !== (advice === null))).toEqual([]);
  });
});

describe('alarm mail', () => {
  const topic = 'arn:aws:sns:eu-central-1:111122223333:alarms';
  const owner = 'owner@relay.example';
  const waiting = { endpoint: owner, isConfirmed: false };
  const confirmed = { endpoint: 'other@relay.example', isConfirmed: true };

  test.each([
    [owner, [waiting, confirmed], 'ok', 'goes to other@relay.example', null],
    [
      owner,
      [waiting],
      'fail',
      'NOBODY receives alarms: owner@relay.example has not confirmed the subscription',
      'Follow the link in the e-mail that AWS sent there; it is valid for two days.',
    ],
    [
      owner,
      [],
      'fail',
      'NOBODY receives alarms: owner@relay.example is not subscribed any more',
      'Subscribe it again: aws sns subscribe --protocol email --notification-endpoint owner@relay.example --topic-arn arn:aws:sns:eu-central-1:111122223333:alarms',
    ],
    [null, [confirmed], 'ok', 'goes to other@relay.example', null],
    [null, [], 'warn', 'NOBODY receives alarms', 'Set aws.alarmEmail in relay.config.ts and deploy.'],
  ] as const)('meant for %s, with %j, is judged %s: %s', (email, subscriptions, verdict, found, advice) => {
    expect(checkSubscribers({ topic, email, subscriptions })).toEqual({
      name: 'alarm mail',
      verdict,
      found,
      advice,
    });
  });
});

describe('the allowed addresses', () => {
  const expected = ['52.89.214.238', '34.212.75.30', '54.218.53.128', '52.32.178.7', '203.0.113.0/24'];
  const policyWith = (addresses: string | readonly string[]) =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Condition: { IpAddress: { 'aws:SourceIp': addresses } } }],
    });

  test('pass when they are those expected, in any order', () => {
    expect(judgeAllowlist(policyWith(expected.toReversed()), expected)).toEqual({
      name: 'allowed addresses',
      verdict: 'ok',
      found: "TradingView's and 1 more",
      advice: null,
    });
  });

  test('are also read with escaped quotes, as API Gateway returns them', () => {
    const escaped = policyWith(expected).replaceAll('"', '\\"').replaceAll('/', '\\/');

    expect(judgeAllowlist(escaped, expected).verdict).toBe('ok');
  });

  test('fail when one is missing, and when one is too many', () => {
    const changed = [...expected.slice(1), '0.0.0.0/0'];

    expect(judgeAllowlist(policyWith(changed), expected)).toMatchObject({
      verdict: 'fail',
      found: '52.89.214.238 cannot call; 0.0.0.0/0 can call and should not',
    });
  });

  test('fail when a statement allows any address', () => {
    const open = JSON.stringify({
      Statement: [JSON.parse(policyWith(expected)).Statement[0], { Effect: 'Allow', Principal: '*' }],
    });

    for (const policy of [open, '', 'null', policyWith('0.0.0.0/0')])
      expect(judgeAllowlist(policy, expected).verdict).toBe('fail');
  });
});

describe('the key of an account', () => {
  const account = { name: 'main' };
  const refusedWith = (httpStatus: number) =>
    new ExchangeError(mainBalance, [
      {
        atMs: 1,
        failure: {
          kind: 'rejected',
          httpStatus,
          exchangeCode: 10,
          message: 'Unauthorized request.',
          errors: {},
        },
      },
    ]);
  const lost = new ExchangeError(mainBalance, [
    { atMs: 1, failure: { kind: 'ambiguous', reason: 'no response within 5000 ms' } },
  ]);
  const missing = new RelayError('secrets_missing', 'account main has no exchange key stored');

  test.each([
    [
      'that is not known is to be stored',
      refusedWith(401),
      'real',
      'fail',
      /store the right pair with `keys set main`/,
    ],
    [
      'of the real exchange is none of the paper exchange',
      refusedWith(401),
      'paper',
      'fail',
      /accepts only its own keys/,
    ],
    [
      'that may not do this is not to be stored again',
      refusedWith(403),
      'real',
      'fail',
      /need not store it again/,
    ],
    [
      'that was not checked is left as it is',
      lost,
      'real',
      'warn',
      /did not refuse the key: do not change it/,
    ],
    [
      'that another fault kept from being judged is left, too',
      refusedWith(422),
      'real',
      'warn',
      /do not change it/,
    ],
    ['that is missing is to be stored', missing, 'own', 'fail', /^Store one: `keys set main`\.$/],
  ] as const)('%s', (_, error, kind, verdict, advice) => {
    expect(judgeKey('key of main', account, error, { kind })).toMatchObject({
      verdict,
      advice: expect.stringMatching(advice),
    });
  });
});

describe('the configured markets', () => {
  const shippedSettings = parseConfig(shipped).settings;
  const record = (name: string, changes: Partial<Market> = {}) =>
    ({ name, tradesEnabled: true, isCollateral: true, isFutures: false, ...changes }) as Market;
  const listed = [
    record('BTC_USDT'),
    record('BTC_PERP', { isFutures: true }),
    record('ETH_USDT'),
    record('SOL_USDT'),
    record('DBTC_DUSDT', { isCollateral: false }),
  ];
  const withTickers = (tickers: Record<string, string>) => ({ ...shippedSettings, tickers });

  test('pass when the exchange lists them all', () => {
    expect(checkMarkets(shippedSettings, listed).verdict).toBe('ok');
  });

  test('fail one by one when the exchange does not list them or has closed them', () => {
    const closed = listed
      .slice(1)
      .map((market) => ({ ...market, tradesEnabled: market.name !== 'SOL_USDT' }));

    expect(checkMarkets(shippedSettings, closed)).toMatchObject({
      verdict: 'fail',
      found:
        'ticker BTCUSDT → BTC_USDT is not listed by the exchange; ticker WHITEBIT:BTCUSDT → BTC_USDT is not listed by the exchange; ticker SOLUSDT → SOL_USDT is closed for trading',
    });
  });

  test('cause a warning when no ticker is mapped to them or no account may trade them', () => {
    expect(
      checkMarkets(withTickers({ ...shippedSettings.tickers, DOGEUSDT: 'DOGE_USDT' }), [
        ...listed,
        record('DOGE_USDT'),
      ]),
    ).toMatchObject({ verdict: 'warn', found: 'DOGE_USDT has a ticker, but no account may trade it' });
    expect(checkMarkets(withTickers({ BTCUSDT: 'BTC_USDT' }), listed)).toMatchObject({
      verdict: 'warn',
      found: expect.stringContaining('SOL_USDT may be traded, but no ticker is mapped to it'),
    });
  });

  test.each([
    ['a market that is no collateral', { isCollateral: false }, "'margin'", "'spot' only"],
    ['a perpetual market under another name', { isFutures: true }, "'margin'", "'futures' only"],
  ])('fail for %s, when the configuration says otherwise', (_, changes, said, traded) => {
    const others = listed.filter(({ name }) => name !== 'SOL_USDT');

    expect(checkMarkets(shippedSettings, [...others, record('SOL_USDT', changes)])).toMatchObject({
      verdict: 'fail',
      found: `market SOL_USDT of account main has tradesOn: ${said}, and the exchange trades it on ${traded}`,
    });
  });

  test('fail when a market with tradesOn futures is a spot market at the exchange', () => {
    const others = listed.filter(({ name }) => name !== 'BTC_PERP');

    expect(checkMarkets(shippedSettings, [...others, record('BTC_PERP')])).toMatchObject({
      verdict: 'fail',
      found:
        "market BTC_PERP of account main has tradesOn: 'futures', and the exchange trades it on 'spot' or 'margin' only",
    });
  });

  test('may trade on spot although the exchange offers margin, too', () => {
    const onSpot = parseConfig({
      ...shipped,
      tickers: { BTCUSDT: 'BTC_USDT' },
      accounts: { main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'spot' } } } },
    }).settings;

    expect(checkMarkets(onSpot, listed).verdict).toBe('ok');
  });
});

describe('market orders', () => {
  const judged = (changes: object, dialect: Dialect = 'live') =>
    checkMarketOrders(
      parseConfig({
        ...shipped,
        accounts: { main: { mode: 'live', markets: { BTC_USDT: { tradesOn: 'margin' } }, ...changes } },
      }).settings,
      dialect,
    );

  test.each([
    [
      { maxSlippage: '0.5%' },
      'ok',
      'fill at most 0.5% beyond the best opposite price; stop-market orders are denied, because they fill at any price',
    ],
    [
      { maxSlippage: '0.5%', allowUnguardedMarket: true },
      'ok',
      'fill at most 0.5% beyond the best opposite price; stop-market orders fill at any price',
    ],
    [
      { allowUnguardedMarket: true },
      'ok',
      'fill at any price unless the alert has a maxSlippage; stop-market orders fill at any price',
    ],
    [
      {},
      'warn',
      'are refused unless the alert has a maxSlippage; stop-market orders are denied, because they fill at any price',
    ],
  ])('of an account with %j are judged %s: %s', (changes, verdict, found) => {
    expect(judged(changes)).toMatchObject([{ name: 'market orders of main', verdict, found }]);
  });

  test('are not judged for an account without markets, nor in the dialect that has none', () => {
    expect(judged({ markets: {} })).toEqual([]);
    expect(judged({}, 'documented')).toEqual([]);
  });

  test('of an account in the EU fill at any price, and no alert can bound them', () => {
    const account = { region: 'eu', allowUnguardedMarket: true, markets: { BTC_USDT: { tradesOn: 'spot' } } };

    expect(judged(account)).toMatchObject([
      { verdict: 'ok', found: 'fill at any price; stop-market orders fill at any price' },
    ]);
  });

  test('of both shipped accounts are bounded', () => {
    expect(checkMarketOrders(parseConfig(shipped).settings, 'live')).toMatchObject([
      { name: 'market orders of main', verdict: 'ok' },
      { name: 'market orders of rehearsal', verdict: 'ok' },
    ]);
  });
});

describe('the limits', () => {
  test('cause a warning when maxOpenNotional is to bound an account that trades on spot', () => {
    const judged = (tradesOn: string) =>
      warnOfLimits(
        parseConfig({
          ...shipped,
          accounts: { main: { mode: 'live', markets: { BTC_USDT: { tradesOn } }, maxOpenNotional: '500' } },
        }).settings,
      );

    expect(judged('spot')).toMatchObject([
      {
        verdict: 'warn',
        found: expect.stringContaining('main: maxOpenNotional does not count what has filled on spot'),
      },
    ]);
    expect(judged('margin')).toEqual([]);
  });
});

describe('the modes', () => {
  const { settings } = parseConfig(shipped);

  test('cause a warning when accounts in paper mode have no paper exchange', () => {
    expect(checkModes(settings, { kind: 'real' })).toMatchObject([
      { verdict: 'warn', found: 'main in paper mode: no order is sent, every signal ends as dry_run' },
    ]);
    expect(checkModes(settings, { kind: 'paper' })).toEqual([]);
  });
});

test.each([
  ['paper', 'this is the paper exchange (https://a.example): no real money'],
  ['real', 'this is the real exchange (https://a.example): real money'],
  [
    'own',
    'https://a.example is an address you configured: the relay cannot tell whether it trades real money',
  ],
] as const)('An exchange of kind %s is told as what it is', (kind, text) => {
  expect(describeExchange({ url: 'https://a.example', dialect: 'live', kind })).toBe(text);
});

test('What the EU leaves to an account is told, by address and by account', () => {
  const account = {
    mode: 'live',
    allowUnguardedMarket: true,
    markets: { BTC_USDT: { tradesOn: 'spot' } },
  };
  const checked = (exchange: object, accounts: object) =>
    reportRegions(
      parseConfig({ ...shipped, exchange: { ...shipped.exchange, ...exchange }, accounts }).settings,
    );

  expect(checked({ address: 'eu' }, { main: account, second: account })).toMatchObject([
    {
      name: 'region',
      verdict: 'ok',
      found: expect.stringMatching(/^main, second: in the EU .* spot trading only/),
    },
  ]);
  expect(checked({}, { main: account, second: { ...account, region: 'eu' } })).toMatchObject([
    { found: expect.stringMatching(/^second: in the EU /) },
  ]);
  expect(checked({}, { main: account })).toEqual([]);
});
