import { describe, expect, test } from '@jest/globals';
import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { CheckedOrder, Exposure } from '../../lib/limits/counted-holdings.ts';
import type { RiskFacts } from '../../lib/limits/risk-limit.ts';
import {
  checkRisk,
  checkRiskAgain,
  judgesAgain,
  listRiskUse,
  riskLimitNames,
  riskNeedsOf,
} from '../../lib/limits/risk-limits.ts';
import { describeSpotGaps } from '../../lib/limits/spot-gaps.ts';
import type { Account, RiskLimits } from '../../lib/model/account.ts';
import { accountOn } from '../signals/reading.ts';

const nowMs = Date.UTC(2026, 10, 22, 12);
const minuteMs = 60_000;
const d = parseDecimal;

const noLimits: RiskLimits = {
  maxOpenNotional: null,
  maxDailyLoss: null,
  coolDownMs: null,
  tradingWindows: null,
  timeZone: 'UTC',
};

function accountWith(limits: Partial<RiskLimits>, maxPosition: Decimal | null = null): Account {
  const account = accountOn('BTC_USDT', 'margin');
  const [market] = Object.values(account.markets);
  if (market === undefined) throw new Error('the account has no market');
  return {
    ...account,
    markets: { BTC_USDT: { ...market, ...(maxPosition === null ? {} : { maxPosition }) } },
    ...(Object.keys(limits).length === 0 ? {} : { limits: { ...noLimits, ...limits } }),
  };
}

const held: Exposure = {
  positions: [
    { market: 'BTC_USDT', amount: d('0.5'), notional: d('30000'), positionSide: 'BOTH' },
    { market: 'ETH_USDT', amount: d('1'), notional: d('3000'), positionSide: 'BOTH' },
  ],
  orders: [],
};

const facts: RiskFacts = { nowMs, exposure: held, day: null, lastLossAtMs: null };

function buy(amount: string, notional: string, isSpot = false): CheckedOrder {
  const order = {
    type: 'market',
    market: 'BTC_USDT',
    side: 'buy',
    amount: d(amount),
    clientOrderId: 'x',
  } as const;
  return {
    sized: { order, baseAmount: d(amount), notional: d(notional) } as CheckedOrder['sized'],
    notional: d(notional),
    isSpot,
  };
}

const small = buy('0.01', '600');
const window = (fromMinute: number, untilMinute: number) => ({
  days: ['sun'] as const,
  fromMinute,
  untilMinute,
});

describe('a limit of growing risk allows what is exactly at it, and denies what is beyond:', () => {
  test.each<
    [rule: string, account: Account, changes: Partial<RiskFacts>, order: CheckedOrder, isDenied: boolean]
  >([
    ['max_position', accountWith({}, d('1')), {}, buy('0.5', '30000'), false],
    ['max_position', accountWith({}, d('1')), {}, buy('0.50001', '30001'), true],
    ['max_position', accountWith({}, d('1')), {}, buy('5', '300000', true), false],
    ['max_open_notional', accountWith({ maxOpenNotional: d('40000') }), {}, buy('0.1', '7000'), false],
    ['max_open_notional', accountWith({ maxOpenNotional: d('40000') }), {}, buy('0.1', '7000.01'), true],
    ['max_daily_loss', accountWith({ maxDailyLoss: d('100') }), { day: lost('-60', '-39.99') }, small, false],
    ['max_daily_loss', accountWith({ maxDailyLoss: d('100') }), { day: lost('-60', '-40') }, small, true],
    ['max_daily_loss', accountWith({ maxDailyLoss: d('100') }), { day: lost('-120', '20') }, small, true],
    ['max_daily_loss', accountWith({ maxDailyLoss: d('100') }), { day: lost('-120', '20.01') }, small, false],
    [
      'limit_not_known',
      accountWith({ maxDailyLoss: d('100') }),
      { day: 'a value is not known' },
      small,
      true,
    ],
    ['cool_down_after_loss', accountWith({ coolDownMs: minuteMs }), {}, small, false],
    [
      'cool_down_after_loss',
      accountWith({ coolDownMs: minuteMs }),
      { lastLossAtMs: nowMs - minuteMs },
      small,
      false,
    ],
    [
      'cool_down_after_loss',
      accountWith({ coolDownMs: minuteMs }),
      { lastLossAtMs: nowMs - minuteMs + 1 },
      small,
      true,
    ],
    ['trading_windows', accountWith({ tradingWindows: [window(720, 721)] }), {}, small, false],
    ['trading_windows', accountWith({ tradingWindows: [window(719, 720)] }), {}, small, true],
  ])('%s', (rule, account, changes, order, isDenied) => {
    expect(checkRisk(order, { ...facts, ...changes }, account)?.rule ?? null).toBe(isDenied ? rule : null);
  });
});

function lost(realised: string, floating: string) {
  return { sinceMs: nowMs, realised: d(realised), floating: d(floating) };
}

const everything = accountWith(
  {
    maxOpenNotional: zero,
    maxDailyLoss: d('1'),
    coolDownMs: minuteMs,
    tradingWindows: [window(0, 1)],
  },
  d('0.1'),
);
const lostToday = { ...facts, day: lost('-5', '0'), lastLossAtMs: nowMs };

test('the limits judge in their order, so that a denial names the first of them', () => {
  expect(riskLimitNames).toEqual([
    'maxPosition',
    'maxOpenNotional',
    'maxDailyLoss',
    'coolDownAfterLoss',
    'tradingWindows',
  ]);
  expect(checkRisk(small, lostToday, everything)?.rule).toBe('max_position');
});

test('each limit says what must be read for it; an account without one needs nothing', () => {
  const none = { holdings: false, allMarkets: false, deals: false };

  expect(riskNeedsOf(accountWith({}), null)).toBeNull();
  expect(riskNeedsOf(accountWith({}, d('1')), 'ETH_USDT')).toBeNull();
  expect(riskNeedsOf(accountWith({}, d('1')), 'BTC_USDT')).toEqual({ ...none, holdings: true });
  expect(riskNeedsOf(accountWith({}, d('1')), null)).toEqual({ ...none, holdings: true });
  expect(riskNeedsOf(accountWith({ maxOpenNotional: d('1') }), null)).toEqual({
    ...none,
    holdings: true,
    allMarkets: true,
  });
  expect(riskNeedsOf(accountWith({ maxDailyLoss: d('1') }), null)).toEqual({
    ...none,
    holdings: true,
    deals: true,
  });
  expect(riskNeedsOf(accountWith({ coolDownMs: 1 }), null)).toEqual({ ...none, deals: true });
  expect(riskNeedsOf(accountWith({ tradingWindows: [] }), null)).toEqual(none);
  expect(riskNeedsOf(everything, null)).toEqual({ holdings: true, allMarkets: true, deals: true });
});

test('before an order is sent, the windows judge once more by the time, the open notional beside other orders', () => {
  expect(checkRiskAgain('time', small, lostToday, everything)?.rule).toBe('trading_windows');
  expect(checkRiskAgain('others', small, lostToday, everything)?.rule).toBe('max_open_notional');
  expect(judgesAgain('others', everything, small)).toBe(true);
  expect(judgesAgain('others', accountWith({ maxDailyLoss: d('1') }), small)).toBe(false);
  expect(judgesAgain('time', accountWith({ maxDailyLoss: d('1') }), small)).toBe(false);
});

test('the use of each limit says what is used, what is left, and why nothing more is allowed', () => {
  expect(listRiskUse(lostToday, everything)).toEqual([
    {
      name: 'maxPosition',
      of: 'BTC_USDT buy',
      limit: '0.1',
      used: '0.5',
      left: '0',
      unit: 'BTC',
      sinceMs: null,
      denies: 'a buy would enlarge the position beyond the limit',
    },
    {
      name: 'maxPosition',
      of: 'BTC_USDT sell',
      limit: '0.1',
      used: '0',
      left: '0.1',
      unit: 'BTC',
      sinceMs: null,
      denies: null,
    },
    {
      name: 'maxOpenNotional',
      of: null,
      limit: '0',
      used: '33000',
      left: '0',
      unit: 'USDT',
      sinceMs: null,
      denies: 'any order would exceed it',
    },
    {
      name: 'maxDailyLoss',
      of: null,
      limit: '1',
      used: '5',
      left: '0',
      unit: 'USDT',
      sinceMs: nowMs,
      denies: expect.stringContaining('the account has lost 5 USDT since 2026-11-22T12:00:00.000Z'),
    },
    {
      name: 'coolDownAfterLoss',
      of: null,
      limit: '1',
      used: null,
      left: '1',
      unit: 'minutes',
      sinceMs: nowMs,
      denies: expect.stringContaining('nothing is opened until 2026-11-22T12:01:00.000Z'),
    },
    {
      name: 'tradingWindows',
      of: null,
      limit: 'sun 00:00–00:01 (UTC)',
      used: 'closed',
      left: 'opens 2026-11-29T00:00:00.000Z',
      unit: null,
      sinceMs: null,
      denies: expect.stringContaining("outside the account's trading windows"),
    },
  ]);
});

test('in hedge mode the use of a largest position is told for each side', () => {
  const account = accountWith({}, d('0.02'));
  const side = (positionSide: 'LONG' | 'SHORT', amount: string) =>
    ({ market: 'BTC_USDT', amount: d(amount), notional: d('1000'), positionSide }) as const;
  const useOf = (exposure: Exposure) =>
    listRiskUse({ ...facts, exposure }, account).map(({ of, used, denies }) => [of, used, denies !== null]);

  expect(useOf({ positions: [side('LONG', '0.02'), side('SHORT', '-0.02')], orders: [] })).toEqual([
    ['BTC_USDT buy LONG', '0.02', true],
    ['BTC_USDT sell SHORT', '0.02', true],
  ]);
  const resting = { side: 'sell', onlyReduces: false, rests: true } as const;
  expect(useOf({ positions: [], orders: [{ ...side('SHORT', '0.01'), ...resting }] })).toEqual([
    ['BTC_USDT buy LONG', '0', false],
    ['BTC_USDT sell SHORT', '0.01', false],
  ]);
});

test('what was not read has no use to tell, and a text says what of the day is not known', () => {
  const unread = { ...facts, exposure: null };
  const names = listRiskUse(unread, everything).map(({ name }) => name);

  expect(names).toEqual(['coolDownAfterLoss', 'tradingWindows']);
  expect(listRiskUse({ ...unread, day: 'a value is not known' }, everything)[0]).toMatchObject({
    name: 'maxDailyLoss',
    used: null,
    denies: 'a value is not known',
  });
});

test('what has filled on spot counts for no open notional, and the limits say so', () => {
  const onSpot = (market: string, limits: Partial<RiskLimits>) =>
    describeSpotGaps({ ...accountWith(limits), markets: accountOn(market, 'spot').markets });

  expect(onSpot('BTC_USDT', { maxOpenNotional: d('500') })).toEqual([
    expect.stringContaining('maxOpenNotional does not count what has filled on spot (BTC_USDT)'),
  ]);
  expect(onSpot('BTC_USDT', { maxDailyLoss: d('500') })).toEqual([]);
  expect(onSpot('DBTC_DUSDT', { maxOpenNotional: d('500') })).toEqual([]);
  expect(describeSpotGaps(accountWith({ maxOpenNotional: d('500') }))).toEqual([]);
});

test('what is bought in one market of spot and sold in another closes nothing, and the limits say so', () => {
  const markets = { ...accountOn('BTC_USDT', 'spot').markets, ...accountOn('BTC_USDC', 'spot').markets };
  const losses = { maxDailyLoss: d('500'), coolDownMs: minuteMs };

  expect(describeSpotGaps({ ...accountWith(losses), markets })).toEqual([
    expect.stringContaining(
      'maxDailyLoss and coolDownAfterLoss do not count the loss of what is bought in one of BTC_USDT, BTC_USDC and sold in another',
    ),
  ]);
  expect(describeSpotGaps({ ...accountWith({ ...losses, maxDailyLoss: null }), markets })).toEqual([
    expect.stringMatching(/^coolDownAfterLoss does not count/),
  ]);
  expect(describeSpotGaps({ ...accountWith({}), markets })).toEqual([]);
  expect(
    describeSpotGaps({ ...accountWith(losses), markets: accountOn('BTC_USDT', 'spot').markets }),
  ).toEqual([]);
});
