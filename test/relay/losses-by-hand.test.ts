import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findDealsState, readDealsState } from '../../lib/account/account-deals.ts';
import { readLimitUse } from '../../lib/account/limit-use.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import type { ResultOf } from '../../lib/exchange/endpoint.ts';
import { collateralBalance } from '../../lib/exchange/endpoints/collateral-balance.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Side } from '../../lib/model/order.ts';
import { findAccount } from '../../lib/model/settings.ts';
import { readReport } from '../../lib/reports/read-report.ts';
import type { Grouping } from '../../lib/reports/report.ts';
import { minuteMs } from '../support/aftermath.ts';
import { type LimitedRelay, openLimitedRelay, settingsWith } from '../support/limited-relay.ts';
import { override } from '../support/override.ts';

let relay: LimitedRelay;
let heldAtFirst: Decimal;

beforeEach(async () => {
  relay = await openLimitedRelay();
  heldAtFirst = await readCollateral();
});
afterEach(() => relay.close());

const dayMs = 24 * 60 * minuteMs;
const limited = settingsWith({ maxDailyLoss: '40' });
const placed = { status: 'placed' };
const entry = { action: 'buy', quantity: '0.02', stopLoss: '45000' };

async function readCollateral(): Promise<Decimal> {
  const client = await relay.services.exchangeFor('main');
  const balances = await client.call(collateralBalance, {});
  return balances.find(({ asset }) => asset === 'USDT')?.balance ?? zero;
}

/** An order of the account that the relay knows nothing of; it fills at once. */
async function tradeByHand(side: Side, amount: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const price = parseDecimal(side === 'buy' ? '60000' : '40000');
  const order = { market: 'BTC_USDT', side, amount: parseDecimal(amount), price, clientOrderId: '' };
  await client.call(limitEndpoint, order);
}

async function readAll(by: Grouping = 'market') {
  const { ledger, executions, facts } = relay.services;
  const firstOf = async (account: string) => (await readDealsState(facts, account))?.first ?? null;
  return await readReport(
    { ledger, executions, firstOf, isSpot: () => false },
    { accounts: ['main'], fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, by, dayOf: String },
  );
}

async function reportedProfit(): Promise<string> {
  const { totals } = await readAll();
  return formatDecimal(totals[0]?.profit.net ?? zero);
}

const changeOfCollateral = async () => formatDecimal((await readCollateral()).minus(heldAtFirst));

/** The loss of the day as `relay limits` shows it. */
async function usedOfLoss(settings = limited): Promise<string | null | undefined> {
  const client = await relay.services.exchangeFor('main');
  const account = settings.accounts['main'];
  if (account === undefined) throw new Error('there is no account');
  const { limits } = await readLimitUse(relay.services, account, client, { timeoutMs: 2000 });
  return limits.find(({ name }) => name === 'maxDailyLoss')?.used;
}

/** As time goes on in a relay: the minute's watch, and the follower. */
async function goOn(ms: number): Promise<void> {
  relay.clock.advance(ms);
  await relay.reconcile();
  await relay.follow();
}

describe.each([
  ['sells', 'sell', '4.999999'],
  ['buys', 'buy', '5'],
] as const)(
  'Coins that the owner %s on spot, in a market that the relay trades on margin,',
  (_, side, fee) => {
    test('change no position, and hide no loss of it', async () => {
      relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
      expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toEqual(placed);
      await goOn(20_000);
      const client = await relay.services.exchangeFor('main');
      const traded = { market: 'BTC_USDT', side, amount: parseDecimal('0.1'), clientOrderId: '' };
      await client.call(spotStockMarket, traded);
      await goOn(2 * minuteMs);
      expect(await relay.sendUnder(limited, { ...entry, action: 'buy' })).toEqual(placed);
      await goOn(20_000);
      relay.setPrice('47500');
      await tradeByHand('sell', '0.021');
      await goOn(minuteMs);

      const lost = parseDecimal(await changeOfCollateral()).neg();
      expect(lost.gt('54')).toBe(true);
      const withFeeOnSpot = formatDecimal(lost.plus(fee));
      expect(await usedOfLoss()).toBe(withFeeOnSpot);
      expect(await reportedProfit()).toBe(`-${withFeeOnSpot}`);
      expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
        status: 'denied',
        rule: 'max_daily_loss',
      });
    });
  },
);

describe('In a market that the relay trades on spot', () => {
  const trading = { tradesOn: 'spot' } as const;
  const onSpot = settingsWith({ maxDailyLoss: '5000' }, trading);
  const cooling = settingsWith({ maxDailyLoss: '5000', coolDownAfterLoss: 30 }, trading);
  const lossInReport = async () => formatDecimal(parseDecimal(await reportedProfit()).neg());

  beforeEach(() => {
    relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal('1'));
    relay.paper.control.setFunds('main', 'spot', 'USDT', parseDecimal('100000'));
  });

  test('a position that is opened and closed by hand counts, and changes no cost of what was bought', async () => {
    expect(await relay.sendUnder(onSpot, { action: 'buy', quantity: '0.01' })).toEqual(placed);
    await goOn(20_000);
    const [fees, before] = [await usedOfLoss(onSpot), await readCollateral()];
    await tradeByHand('sell', '0.1');
    await goOn(minuteMs);
    relay.setPrice('55000');
    await tradeByHand('buy', '0.1');
    await goOn(minuteMs);
    const lost = before.minus(await readCollateral()).plus(fees ?? '0');

    expect(lost.gt('500')).toBe(true);
    expect(await usedOfLoss(onSpot)).toBe(formatDecimal(lost));
    expect(await lossInReport()).toBe(formatDecimal(lost));
    expect(await relay.sendUnder(onSpot, { action: 'sell', quantity: '0.01' })).toEqual(placed);
    await goOn(20_000);
    expect(lost.minus((await usedOfLoss(onSpot)) ?? '0').gt('48')).toBe(true);
    expect(await lossInReport()).toBe(await usedOfLoss(onSpot));
  });

  test('a position by hand that is gone, and whose deals no list shows yet, lets nothing be opened', async () => {
    expect(await relay.sendUnder(onSpot, { action: 'buy', quantity: '0.01' })).toEqual(placed);
    await goOn(20_000);
    await tradeByHand('sell', '0.1');
    await goOn(minuteMs);
    await goOn(minuteMs);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'executed-history',
      delayMs: 2 * minuteMs,
      probability: 1,
    });
    relay.setPrice('55000');
    await tradeByHand('buy', '0.1');
    relay.clock.advance(2 * longestPositionLagMs);

    expect(await relay.sendUnder(onSpot, { action: 'buy', quantity: '0.01' })).toMatchObject({
      rule: 'limit_not_known',
      actual: expect.stringContaining('the position in BTC_USDT went from -0.1 to 0'),
    });
  });

  test('a strategy that sells at a loss what it has bought cools down, whatever others have paid', async () => {
    relay.setPrice('40000');
    expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.05', strategy: 'b' })).toEqual(
      placed,
    );
    await goOn(20_000);
    relay.setPrice('50000');
    expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.02', strategy: 'a' })).toEqual(
      placed,
    );
    await goOn(20_000);
    relay.setPrice('49000');
    expect(await relay.sendUnder(cooling, { action: 'sell', quantity: '0.02', strategy: 'a' })).toEqual(
      placed,
    );
    // What the response to the order says counts at once, and as its fills do later.
    expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.01', strategy: 'a' })).toMatchObject({
      rule: 'cool_down_after_loss',
    });
    await goOn(20_000);

    expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.01', strategy: 'a' })).toMatchObject({
      rule: 'cool_down_after_loss',
    });
    expect(await usedOfLoss(cooling)).toBe(await lossInReport());
    expect(Number(await lossInReport())).toBeGreaterThan(20);
  });

  test('the exit of a strategy that is named otherwise than its entry counts its loss', async () => {
    relay.setPrice('50000');
    expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.02', strategy: 'Long' })).toEqual(
      placed,
    );
    await goOn(20_000);
    relay.setPrice('48000');
    expect(
      await relay.sendUnder(cooling, { action: 'sell', quantity: '0.02', strategy: 'Close Long' }),
    ).toEqual(placed);

    expect(
      await relay.sendUnder(cooling, { action: 'buy', quantity: '0.01', strategy: 'Long' }),
    ).toMatchObject({ rule: 'cool_down_after_loss' });
    await goOn(20_000);
    expect(Number(await usedOfLoss(cooling))).toBeGreaterThan(39);
    expect(await usedOfLoss(cooling)).toBe(await lossInReport());
  });

  test('of what several strategies have bought, an exit of another name closes the dearest first', async () => {
    for (const [strategy, price] of [
      ['A', '40000'],
      ['B', '50000'],
    ] as const) {
      relay.setPrice(price);
      expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.01', strategy })).toEqual(placed);
      await goOn(20_000);
    }
    relay.setPrice('48000');
    expect(await relay.sendUnder(cooling, { action: 'sell', quantity: '0.01', strategy: 'Exit' })).toEqual(
      placed,
    );
    await goOn(20_000);

    expect(Number(await usedOfLoss(cooling))).toBeGreaterThan(19);
    expect(await usedOfLoss(cooling)).toBe(await lossInReport());
  });

  test('a sale of more than its strategy has counts the loss of what others have bought', async () => {
    for (const [strategy, price] of [
      ['B', '50000'],
      ['A', '48000'],
    ] as const) {
      relay.setPrice(price);
      expect(await relay.sendUnder(onSpot, { action: 'buy', quantity: '0.01', strategy })).toEqual(placed);
      await goOn(20_000);
    }
    expect(await relay.sendUnder(onSpot, { action: 'sell', quantity: '0.0199', strategy: 'A' })).toEqual(
      placed,
    );
    await goOn(20_000);

    expect(Number(await usedOfLoss(onSpot))).toBeGreaterThan(19);
    expect(Number(await usedOfLoss(onSpot))).toBeCloseTo(Number(await lossInReport()), 6);
  });

  test('a sale of what is held besides closes nothing that a strategy keeps a stop-loss for', async () => {
    relay.setPrice('50000');
    const guarded = { action: 'buy', quantity: '0.02', strategy: 'Long', stopLoss: '40000' };
    expect(await relay.sendUnder(cooling, guarded)).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('48000');
    expect(await relay.sendUnder(cooling, { action: 'sell', quantity: '0.02', strategy: 'other' })).toEqual(
      placed,
    );
    await goOn(20_000);

    expect(Number(await usedOfLoss(cooling))).toBeLessThan(3);
  });

  test('what an older release has stored of its books is sold by any strategy', async () => {
    const startOfDay = relay.clock.nowMs() - (relay.clock.nowMs() % dayMs);
    await relay.services.facts.write('main', 'books', {
      atMs: startOfDay - dayMs,
      books: { BTC_USDT: { amount: '0.01', cost: '600' } },
    });
    await usedOfLoss(onSpot);
    expect(await relay.sendUnder(onSpot, { action: 'sell', quantity: '0.01', strategy: 'a' })).toEqual(
      placed,
    );
    await goOn(20_000);

    expect(Number(await usedOfLoss(onSpot))).toBeGreaterThan(100);
  });

  test('what was dealt there counts as before when the market is taken out of the configuration', async () => {
    expect(await relay.sendUnder(onSpot, { action: 'sell', quantity: '0.02' })).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('52000');
    expect(await relay.sendUnder(onSpot, { action: 'buy', quantity: '0.02' })).toEqual(placed);
    await goOn(20_000);
    const used = await usedOfLoss(onSpot);

    expect(Number(used)).toBeLessThan(5);
    const { BTC_USDT: _, ...markets } = onSpot.accounts['main']?.markets ?? {};
    const main = { ...(onSpot.accounts['main'] as Account), markets };
    expect(await usedOfLoss({ ...onSpot, accounts: { main } })).toBe(used);
    expect(await lossInReport()).toBe(used);
  });

  test('what was dealt there on margin before counts as before', async () => {
    expect(await relay.sendUnder(limited, { action: 'sell', quantity: '0.02' })).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('51000');
    expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.02' })).toEqual(placed);
    await goOn(20_000);
    const used = await usedOfLoss();

    expect(Number(used)).toBeGreaterThan(20);
    expect(await usedOfLoss(onSpot)).toBe(used);
  });
});

test('Coins that the owner buys on spot change no position where the list of ended orders could not be read whole once', async () => {
  expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toEqual(placed);
  await goOn(20_000);
  const client = await relay.services.exchangeFor('main');
  const traded = { market: 'BTC_USDT', side: 'buy', amount: parseDecimal('0.1'), clientOrderId: '' } as const;
  await client.call(spotStockMarket, traded);
  relay.paper.control.addFault({ fault: 'unreadable_record', endpoint: 'ended-order', count: 1 });
  await goOn(2 * minuteMs);
  await goOn(minuteMs);

  expect((await storedFills()).map(({ onSpot }) => onSpot)).toEqual([false, true]);
});

test.each([
  ['once it can be read, what it is', 5, true],
  ['after ten minutes, a position', 11, undefined],
])(
  'An order by hand that cannot be read in any list is asked for alone, and counts as %s',
  async (_, minutes, onSpot) => {
    await relay.sendUnder(settingsWith({}), { action: 'buy', quantity: '0.001' });
    await goOn(20_000);
    const client = await relay.services.exchangeFor('main');
    const traded = {
      market: 'BTC_USDT',
      // Its fee does not tell: only a buy pays it in coins.
      side: 'sell',
      amount: parseDecimal('0.1'),
      clientOrderId: '',
    } as const;
    await client.call(spotStockMarket, traded);
    relay.paper.control.addFault({ fault: 'unreadable_record', endpoint: 'ended-order', probability: 1 });
    for (let minute = 0; minute < minutes; minute += 1) await goOn(minuteMs);
    relay.paper.control.clearFaults();
    for (let minute = 0; minute < 2; minute += 1) await goOn(minuteMs);

    expect((await storedFills()).map((fill) => fill.onSpot)).toEqual([false, onSpot]);
  },
);

describe('A position of the relay that is closed by hand at a loss', () => {
  test('counts at once for maxDailyLoss, in the limits and in the report, and lets reductions through', async () => {
    expect(await relay.sendUnder(limited, entry)).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('47500');
    await tradeByHand('sell', '0.02');

    expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
      status: 'denied',
      rule: 'max_daily_loss',
      limit: '40',
      actual: '51.95',
    });
    expect(await changeOfCollateral()).toBe('-51.9501998');
    expect(await usedOfLoss()).toBe('51.9501998');
    await goOn(minuteMs);
    expect(await reportedProfit()).toBe('-51.9501998');
    await relay.services.ledger.writePause('main', null);
    expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
      rule: 'max_daily_loss',
    });
    await tradeByHand('buy', '0.01');
    relay.clock.advance(2 * longestPositionLagMs);
    expect(await relay.sendUnder(limited, { action: 'sell', quantity: '0.01', reduceOnly: true })).toEqual(
      placed,
    );
  });

  test('is seen by the watch, although no order of the account is followed any more', async () => {
    await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
    await goOn(20_000);
    relay.setPrice('47500');
    await tradeByHand('sell', '0.02');
    await goOn(minuteMs);

    expect(relay.alarms.map(({ name }) => name)).toEqual(['daily_loss']);
    expect(await reportedProfit()).toBe('-51.9501998');
  });

  test('counts while the list that tells its side of hedge mode cannot be read', async () => {
    await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
    await goOn(20_000);
    relay.setPrice('47500');
    await tradeByHand('sell', '0.02');
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'ended-order', probability: 1 });
    await goOn(minuteMs);

    expect(relay.alarms.map(({ name }) => name)).toContain('daily_loss');
    // It is stored with what it changed, or not at all.
    expect(await storedFills()).toHaveLength(1);
    relay.paper.control.clearFaults();
    await goOn(minuteMs);

    expect(await storedFills()).toHaveLength(2);
  });

  test('starts coolDownAfterLoss', async () => {
    const cooling = settingsWith({ coolDownAfterLoss: 30 });
    await relay.sendUnder(cooling, entry);
    await goOn(20_000);
    relay.setPrice('49000');
    await tradeByHand('sell', '0.02');

    expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.001' })).toMatchObject({
      rule: 'cool_down_after_loss',
    });
  });

  test('is a group of its own beside the strategies', async () => {
    await relay.sendUnder(limited, { ...entry, strategy: 'breakout' });
    await goOn(20_000);
    relay.setPrice('49000');
    await tradeByHand('sell', '0.02');
    await goOn(minuteMs);

    const { rows, caveats } = await readAll('strategy');

    expect(rows.map(({ group, deals, profit }) => [group, deals, formatDecimal(profit.net)])).toEqual([
      ['breakout', 1, '-1'],
      ['by hand', 1, '-20.9801998'],
    ]);
    expect(caveats.otherDeals).toBe(1);
  });
});

describe('A position that was opened by hand before the relay ever read the account', () => {
  const bare = { orderType: undefined, maxSlippage: '1%' };
  const next = { action: 'buy', quantity: '0.001' };

  test('counts its loss when an alert closes it', async () => {
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    relay.setPrice('47500');
    expect(await relay.sendUnder(limited, { ...bare, action: 'close' })).toEqual(placed);
    relay.clock.advance(minuteMs);

    expect(await relay.sendUnder(limited, next)).toMatchObject({ rule: 'max_daily_loss' });
  });

  test('counts its loss in the report without a limit of loss, and for one that is set later', async () => {
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    const before = await readCollateral();
    relay.setPrice('47500');
    expect(await relay.sendUnder(settingsWith({}), { ...bare, action: 'close' })).toEqual(placed);
    for (let minute = 0; minute < 2; minute += 1) await goOn(minuteMs);
    const lost = formatDecimal(before.minus(await readCollateral()));

    expect(await reportedProfit()).toBe(`-${lost}`);
    expect(await usedOfLoss()).toBe(lost);
  });

  test('is bought on by an order without a limit of loss at its own cost', async () => {
    await tradeByHand('buy', '0.02');
    const before = await readCollateral();
    relay.clock.advance(minuteMs);
    relay.setPrice('47500');
    expect(await relay.sendUnder(settingsWith({}), { action: 'sell', quantity: '0.01' })).toEqual(placed);
    for (let minute = 0; minute < 2; minute += 1) await goOn(minuteMs);
    await tradeByHand('sell', '0.01');
    await goOn(minuteMs);

    expect(await reportedProfit()).toBe(formatDecimal((await readCollateral()).minus(before)));
  });

  test('sends the order of an account without a limit of loss although it cannot be read', async () => {
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'executed-history', probability: 1 });

    expect(await relay.sendUnder(settingsWith({}), { ...bare, action: 'close' })).toEqual(placed);
  });

  test.each([
    ['cannot be read', { fault: 'unreadable_record', endpoint: 'open-positions', probability: 1 } as const],
    ['has no entry price', null],
  ])('counts its loss where its record %s when it is first read', async (_, fault) => {
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    const { exchangeFor } = relay.services;
    const withoutPrice = async (account: string) => {
      const client = await exchangeFor(account);
      const call: typeof client.call = async (endpoint, ...rest) => {
        const result = await client.call(endpoint, ...rest);
        if (endpoint.name !== openPositions.name) return result;
        const page = result as ResultOf<typeof openPositions>;
        const records = page.records.map((record) => ({ ...record, basePrice: null }));
        return { ...page, records } as typeof result;
      };
      return override(client, { call });
    };
    if (fault === null) Object.assign(relay.services, { exchangeFor: withoutPrice });
    else relay.paper.control.addFault(fault);
    expect(await relay.sendUnder(limited, next)).toMatchObject({ status: 'not_sent' });
    Object.assign(relay.services, { exchangeFor });
    relay.paper.control.clearFaults();
    relay.clock.advance(minuteMs);
    relay.setPrice('47500');
    expect(await relay.sendUnder(limited, { ...bare, action: 'close' })).toEqual(placed);
    relay.clock.advance(minuteMs);

    expect(await relay.sendUnder(limited, next)).toMatchObject({ rule: 'max_daily_loss' });
  });

  test('counts its loss when two functions begin to count at once', async () => {
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    relay.setPrice('47500');
    const account = findAccount(limited, 'main');
    if (account === null) throw new Error('there is no account');
    const client = await relay.services.exchangeFor('main');
    const source = { client, options: {} };
    const { facts } = relay.services;
    const replace: typeof facts.replace = async (...fact) => {
      await relay.sendUnder(limited, { ...bare, action: 'close' });
      return await facts.replace(...fact);
    };
    const late = { ...relay.services, facts: override(facts, { replace }) };
    await findDealsState(late, account, source);
    relay.clock.advance(minuteMs);

    expect(await relay.sendUnder(limited, next)).toMatchObject({ rule: 'max_daily_loss' });
  });

  test('counts its loss when the stop-loss of a protect closes it', async () => {
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    await relay.sendUnder(limited, { ...bare, maxSlippage: undefined, action: 'protect', stopLoss: '48000' });
    for (const { signalId } of await relay.services.ledger.waiting('main', 'BTC_USDT', 5))
      await relay.execute(signalId);
    await goOn(3_000);
    relay.setPrice('47900');
    for (let minute = 0; minute < 2; minute += 1) await goOn(minuteMs);

    expect(await relay.sendUnder(limited, next)).toMatchObject({ rule: 'max_daily_loss' });
  });
});

describe('In hedge mode', () => {
  const perp = { ticker: 'BTCUSDT.P', positionSide: 'LONG', quantity: '0.02' };

  async function handIn(side: Side, positionSide: 'LONG' | 'SHORT', amount: string): Promise<void> {
    const client = await relay.services.exchangeFor('main');
    const order = { market: 'BTC_PERP', side, positionSide, amount: parseDecimal(amount) } as const;
    await client.call(marketEndpoint, { ...order, clientOrderId: '' });
    relay.clock.advance(1_000);
  }

  beforeEach(async () => {
    relay.paper.control.setHedgeMode('main', true);
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    expect(await relay.sendUnder(limited, { ...perp, action: 'buy' }, 'BTC_PERP')).toEqual(placed);
    await goOn(20_000);
  });

  test('what is opened by hand on the other side closes nothing', async () => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('48500'));
    await handIn('sell', 'SHORT', '0.02');
    await goOn(minuteMs);

    expect(Number(await usedOfLoss())).toBeCloseTo(31, 0);
    expect(relay.alarms).toEqual([]);
  });

  test('a loss of what was opened by hand beside the other side counts', async () => {
    await handIn('sell', 'SHORT', '0.03');
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('52000'));
    await handIn('buy', 'SHORT', '0.03');
    await goOn(minuteMs);

    // Realised 60 at a loss, and 40 floats as profit.
    expect(Number(await usedOfLoss())).toBeGreaterThan(20);
    const fills = await storedFills();
    expect(fills.map(({ side, positionSide }) => `${side} ${positionSide}`)).toEqual([
      'buy LONG',
      'sell SHORT',
      'buy SHORT',
    ]);
  });

  test('the side of an order by hand that has filled in part is that of the list of open orders', async () => {
    const client = await relay.services.exchangeFor('main');
    const resting = { market: 'BTC_PERP', side: 'sell', positionSide: 'SHORT', clientOrderId: '' } as const;
    const [amount, price] = [parseDecimal('0.03'), parseDecimal('51000')];
    await client.call(limitEndpoint, { ...resting, amount, price });
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('51000'), parseDecimal('0.01'));
    await goOn(minuteMs);

    const fills = await storedFills();
    expect(fills.map(({ side, positionSide, amount }) => `${side} ${amount} ${positionSide}`)).toEqual([
      'buy 0.02 LONG',
      'sell 0.01 SHORT',
    ]);
  });
});

async function storedFills() {
  const query = { account: 'main', fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: 100 };
  return (await relay.services.executions.listFills(query)).fills;
}

const roles = async () => (await storedFills()).map(({ role }) => role);

test('an exit that fills after its entry is no longer followed counts', async () => {
  await relay.sendUnder(limited, entry);
  const { ledger, executions } = relay.services;
  const { entries } = await ledger.list({ status: 'placed', limit: 1 });
  await goOn(20_000);
  const read = await relay.entry(entries[0]?.signalId ?? '');
  if (read.execution === null) throw new Error('it is not followed');
  const { revision, orders } = read.execution;
  // As a follower leaves an entry whose position it has seen gone, and whose exit it never recognised.
  const own = orders.filter(({ role }) => role === 'order');
  await executions.record(
    read,
    { ...read.execution, revision: revision + 1, orders: own, isFollowed: false },
    [],
  );
  relay.setPrice('45000');
  await goOn(minuteMs);

  expect(await roles()).toEqual(['order', 'other']);
  expect(await reportedProfit()).toBe(await changeOfCollateral());
  expect(relay.alarms.map(({ name }) => name)).toContain('daily_loss');
});

test('deals that belong to no entry at all count: opened by hand, and closed by hand', async () => {
  await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' });
  await goOn(20_000);
  await tradeByHand('sell', '0.04');
  relay.setPrice('52000');
  await tradeByHand('buy', '0.04');

  expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
    rule: 'max_daily_loss',
  });
  expect(await roles()).toEqual(['order', 'other', 'other']);
  // The position of 0.001 is open, entered at its average price again.
  expect(formatDecimal(parseDecimal(await reportedProfit()).round(2))).toBe(
    formatDecimal(parseDecimal(await changeOfCollateral()).round(2)),
  );
});

test('what was dealt before the relay first read the account does not count, and its close counts at its own cost', async () => {
  await tradeByHand('buy', '0.04');
  relay.clock.advance(20_000);
  const resting = { orderType: 'limit', maxSlippage: undefined, limitPrice: '40000' };
  expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001', ...resting })).toEqual(placed);
  const cost = await readCollateral();
  relay.setPrice('49000');
  await tradeByHand('sell', '0.04');
  const lost = (await readCollateral()).minus(cost);
  relay.clock.advance(2 * longestPositionLagMs);

  expect(await usedOfLoss()).toBe(formatDecimal(lost.neg().round(8)));
  await tradeByHand('buy', '0.04');
  relay.setPrice('50000');
  await tradeByHand('sell', '0.04');
  relay.clock.advance(2 * longestPositionLagMs);
  expect(await usedOfLoss()).toBe(formatDecimal(cost.minus(await readCollateral()).round(8)));
});

describe('An account that is first read right after a position was closed by hand', () => {
  /** The relay's clock differs from the exchange's from now on. */
  function setAhead(ms: number): void {
    const { clock } = relay;
    Object.assign(relay.services, {
      clock: override<typeof clock>(clock, { nowMs: () => clock.nowMs() + ms }),
    });
  }

  /** What a later long position has lost, with the price of its market falling. */
  async function loseLater(): Promise<string> {
    relay.clock.advance(minuteMs);
    const before = await readCollateral();
    relay.setPrice('50000');
    await tradeByHand('buy', '0.02');
    relay.clock.advance(minuteMs);
    relay.setPrice('48000');
    await tradeByHand('sell', '0.02');
    relay.clock.advance(2 * longestPositionLagMs);
    return formatDecimal(before.minus(await readCollateral()).round(8));
  }

  beforeEach(async () => {
    await tradeByHand('buy', '0.04');
    relay.clock.advance(minuteMs);
    relay.setPrice('52000');
  });

  test('counts no sale that it began without, on a clock that is behind', async () => {
    setAhead(-8_000);
    await tradeByHand('sell', '0.04');
    relay.clock.advance(3_000);

    expect(await usedOfLoss()).toBe('0');
    expect(await usedOfLoss()).toBe('0');
    expect(await loseLater()).toBe(await usedOfLoss());
  });

  test('counts a sale that comes after it, on a clock that is ahead', async () => {
    setAhead(8_000);
    relay.clock.advance(2_000);
    await usedOfLoss();
    const before = await readCollateral();
    relay.setPrice('49000');
    await tradeByHand('sell', '0.04');
    relay.clock.advance(2 * longestPositionLagMs);

    expect(await usedOfLoss()).toBe(formatDecimal(before.minus(await readCollateral()).round(8)));
  });

  test('counts a sale of the seconds before it that the list of positions did not show yet', async () => {
    relay.setPrice('48000');
    const before = await readCollateral();
    await tradeByHand('sell', '0.05');
    relay.clock.advance(2_000);
    relay.paper.control.addFault({
      fault: 'read_lag',
      endpoint: 'open-positions',
      delayMs: 5_000,
      probability: 1,
    });
    await usedOfLoss();
    relay.paper.control.clearFaults();
    relay.clock.advance(minuteMs);
    relay.setPrice('49000');
    await tradeByHand('buy', '0.01');
    relay.clock.advance(2 * longestPositionLagMs);

    expect(await usedOfLoss()).toBe(formatDecimal(before.minus(await readCollateral()).round(8)));
  });

  test('counts no sale of the same second of the exchange, and none between its requests', async () => {
    await tradeByHand('sell', '0.01');
    const { exchangeFor } = relay.services;
    let left = 2;
    const sellMeanwhile = async (account: string) => {
      const client = await exchangeFor(account);
      const call: typeof client.call = async (endpoint, params, options) => {
        const result = await client.call(endpoint, params, options);
        if (endpoint.name === openPositions.name && left > 0) {
          left -= 1;
          await tradeByHand('sell', left === 0 ? '0.02' : '0.01');
        }
        return result;
      };
      return override(client, { call });
    };
    Object.assign(relay.services, { exchangeFor: sellMeanwhile });
    await usedOfLoss();
    Object.assign(relay.services, { exchangeFor });
    relay.clock.advance(2 * longestPositionLagMs);

    expect(left).toBe(0);
    expect(await usedOfLoss()).toBe('0');
    expect(await loseLater()).toBe(await usedOfLoss());
  });
});

test('a deal that turns out to be of an entry is counted once, as that of the entry', async () => {
  await relay.sendUnder(limited, entry);
  await goOn(20_000);
  relay.setPrice('45000');

  expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
    rule: 'max_daily_loss',
  });
  expect(await roles()).toEqual(['order', 'other']);
  await goOn(3_000);
  expect(await roles()).toEqual(['order', 'stop_loss']);
  expect(await reportedProfit()).toBe(await changeOfCollateral());
  relay.clock.advance(2 * longestPositionLagMs);
  expect(await usedOfLoss()).toBe(
    formatDecimal(
      parseDecimal(await changeOfCollateral())
        .neg()
        .round(8),
    ),
  );
});

describe('Deals by hand', () => {
  const double = () => relay.paper.control.addFault({ fault: 'doubled_deals', probability: 1 });
  const contradicted = () => relay.alarms.filter(({ name }) => name === 'fills_contradicted');

  test('that are listed under two ids are counted once, and told once: no gain hides a loss', async () => {
    await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
    await goOn(20_000);
    double();
    relay.setPrice('52000');
    await tradeByHand('sell', '0.01');
    await goOn(3_000);
    relay.setPrice('46000');
    await tradeByHand('sell', '0.01');
    const { orderId } = relay.paper.control.state().orders.at(-1) ?? {};
    relay.clock.advance(2 * longestPositionLagMs);

    const lost = formatDecimal(parseDecimal(await changeOfCollateral()).neg());
    expect(await usedOfLoss()).toBe(formatDecimal(parseDecimal(lost).round(8)));
    for (let minute = 0; minute < 3; minute += 1) await goOn(minuteMs);
    expect(await reportedProfit()).toBe(await changeOfCollateral());
    expect(contradicted()).toHaveLength(2);
    expect(contradicted()[1]).toMatchObject({ market: 'BTC_USDT', orderId, counted: '0.01' });
  });

  test('of two makers that are alike in everything but the id count both', async () => {
    await relay.sendUnder(limited, entry);
    await goOn(20_000);
    const client = await relay.services.exchangeFor('main');
    const resting = { side: 'sell', amount: parseDecimal('0.02'), price: parseDecimal('52000') } as const;
    await client.call(limitEndpoint, { market: 'BTC_USDT', ...resting, clientOrderId: '' });
    for (let maker = 0; maker < 2; maker += 1)
      relay.paper.control.setPrice('BTC_USDT', parseDecimal('52000'), parseDecimal('0.01'));
    await goOn(3_000);
    await goOn(minuteMs);

    expect(await roles()).toEqual(['order', 'other', 'other']);
    expect(await reportedProfit()).toBe(await changeOfCollateral());
    expect(contradicted()).toEqual([]);
  });

  test('of an order that no list tells count once, which is told', async () => {
    await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
    await goOn(20_000);
    double();
    relay.paper.control.addFault({ fault: 'unreadable_record', endpoint: 'ended-order', probability: 1 });
    relay.setPrice('52000');
    await tradeByHand('sell', '0.01');
    await goOn(3_000);
    expect(contradicted()).toEqual([]);
    for (let minute = 0; minute < 11; minute += 1) await goOn(minuteMs);

    expect(await roles()).toEqual(['order', 'other']);
    expect(contradicted()).toHaveLength(1);
  });
});

describe('An order by hand whose deals may be doubled, and that cannot be read', () => {
  let warned: LogFacts[];

  /** Every request for the lists of one order fails, as of one that the exchange does not want to show. */
  function hideOrder(hidden: () => number | undefined): void {
    const { exchangeFor } = relay.services;
    const exchangeForAll = async (account: string) => {
      const client = await exchangeFor(account);
      const call: typeof client.call = (endpoint, params, options) => {
        const { orderId } = params as { readonly orderId?: number };
        if (orderId === undefined || orderId !== hidden()) return client.call(endpoint, params, options);
        const failure = { kind: 'ambiguous', reason: 'HTTP 500' } as const;
        return Promise.reject(new ExchangeError(endpoint, [{ atMs: relay.clock.nowMs(), failure }]));
      };
      return override(client, { call });
    };
    Object.assign(relay.services, { exchangeFor: exchangeForAll });
  }

  let hidden: number | undefined;

  beforeEach(async () => {
    warned = [];
    const { log } = relay.services;
    const warn: typeof log.warn = (message, facts) => {
      if (message.startsWith('an order that belongs to no signal could not be read')) warned.push(facts);
      log.warn(message, facts);
    };
    Object.assign(relay.services, { log: override(log, { warn }) });
    await relay.sendUnder(limited, { ...entry, quantity: '0.04', stopLoss: undefined });
    await goOn(20_000);
    relay.setPrice('52000');
    relay.paper.control.addFault({ fault: 'doubled_deals', probability: 1 });
    await tradeByHand('sell', '0.01');
    hidden = relay.paper.control.state().orders.at(-1)?.orderId;
    hideOrder(() => hidden);
    relay.setPrice('46000');
    await tradeByHand('sell', '0.02');
  });

  test('keeps no other deal from the books, counts once, and is logged once with each reading', async () => {
    await relay.reconcile();
    expect(warned).toMatchObject([{ account: 'main', market: 'BTC_USDT', orderId: hidden }]);
    for (let minute = 0; minute < 3; minute += 1) await goOn(minuteMs);

    expect(await roles()).toEqual(['order', 'other', 'other']);
    expect(await reportedProfit()).toBe(await changeOfCollateral());
    expect(relay.alarms.filter(({ name }) => name === 'fills_contradicted')).toHaveLength(2);
  });

  test('lets the limit of loss judge the next alert', async () => {
    expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
      rule: 'max_daily_loss',
    });
  });
});

describe('A take-profit whose deal is listed under two ids, while the lists of orders lag,', () => {
  const [before, soon] = [20_000, 1_000];

  test.each([
    ['is known', before, 1_000],
    ['is known', before, 3_000],
    ['is known', before, minuteMs],
    ['is not known yet', soon, 1_000],
    ['is not known yet', soon, 3_000],
    ['is not known yet', soon, minuteMs],
  ])('counts once: it %s, %d ms after its entry, followed every %d ms', async (_, ageMs, everyMs) => {
    expect(await relay.sendUnder(limited, { ...entry, takeProfit: '51000' })).toEqual(placed);
    if (ageMs === before) await goOn(ageMs);
    else relay.clock.advance(ageMs);
    relay.paper.control.addFault({ fault: 'doubled_deals', probability: 1 });
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 4_000, probability: 1 });
    relay.setPrice('51000');
    for (let passedMs = 0; passedMs < 15_000; passedMs += everyMs) await goOn(everyMs);
    relay.paper.control.clearFaults();
    for (let minute = 0; minute < 3; minute += 1) await goOn(minuteMs);

    expect(await roles()).toEqual(['order', 'take_profit']);
    expect(await reportedProfit()).toBe(await changeOfCollateral());
    expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toEqual(placed);
  });
});

test('a list that lags behind the deals makes none lost, and none counted twice', async () => {
  await relay.sendUnder(limited, entry);
  await goOn(20_000);
  relay.paper.control.addFault({
    fault: 'read_lag',
    endpoint: 'executed-history',
    delayMs: 8 * minuteMs,
    probability: 1,
  });
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  for (let minute = 0; minute < 20; minute += 1) await goOn(minuteMs);

  expect(await roles()).toEqual(['order', 'other']);
  expect(await reportedProfit()).toBe('-51.9501998');
});

test('a process that begins anew counts what was dealt while none ran', async () => {
  await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(5 * 60 * minuteMs);

  expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.001' })).toMatchObject({
    rule: 'max_daily_loss',
  });
});

test('a position keeps its cost over every day for which the books are stored', async () => {
  await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  for (let days = 0; days < 5; days += 1) {
    relay.clock.advance(dayMs);
    expect(await usedOfLoss()).toMatch(/^0$|^-/);
  }
  const before = await readCollateral();
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(2 * longestPositionLagMs);
  const lost = before.minus(await readCollateral());

  expect(lost.gt(parseDecimal('50'))).toBe(true);
  expect(await usedOfLoss()).toBe(formatDecimal(lost.round(8)));
});

test('a position keeps its cost until a limit of loss is set', async () => {
  await relay.sendUnder(settingsWith({}), { ...entry, stopLoss: undefined });
  await goOn(20_000);
  for (let days = 0; days < 40; days += 1) await goOn(dayMs);
  const before = await readCollateral();
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(2 * longestPositionLagMs);
  const lost = before.minus(await readCollateral());

  expect(lost.gt(parseDecimal('50'))).toBe(true);
  expect(await usedOfLoss()).toBe(formatDecimal(lost.round(8)));
});

test('what was held at first counts for nothing where the deals since then have expired', async () => {
  await tradeByHand('buy', '0.1');
  relay.clock.advance(minuteMs);
  await relay.begin();
  relay.clock.advance(minuteMs);
  await tradeByHand('sell', '0.1');
  for (let days = 0; days < 40; days += 1) {
    relay.clock.advance(dayMs);
    await relay.reconcile();
    await relay.follow();
  }
  relay.file.database.exec('DELETE FROM fills');
  const { executions, clock } = relay.services;
  const keptFromMs = () => clock.nowMs() - 30 * dayMs;
  Object.assign(relay.services, { executions: override(executions, { keptFromMs }) });
  relay.setPrice('60000');
  expect(await relay.sendUnder(settingsWith({}), { action: 'buy', quantity: '0.02' })).toEqual(placed);
  await goOn(20_000);
  relay.setPrice('57000');
  await tradeByHand('sell', '0.02');
  await goOn(minuteMs);

  expect(Number(await usedOfLoss())).toBeGreaterThan(60);
});

test('a position keeps its cost when the time zone of the account changes', async () => {
  const inNewYork = settingsWith({ maxDailyLoss: '40', timeZone: 'America/New_York' });
  await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  for (let days = 0; days < 40; days += 1) {
    relay.clock.advance(dayMs);
    await usedOfLoss();
  }
  // One in the morning in London is eight in the evening of the day before in New York.
  relay.clock.advance(dayMs - (relay.clock.nowMs() % dayMs) + 60 * minuteMs);
  await usedOfLoss();
  const before = await readCollateral();
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(2 * longestPositionLagMs);
  const lost = formatDecimal(before.minus(await readCollateral()).round(8));

  expect(await usedOfLoss(inNewYork)).toBe(lost);
  relay.clock.advance(dayMs / 2);
  expect(await usedOfLoss()).toBe(lost);
});

test('what the list of deals shows of an order that is not followed yet counts for the next order, once', async () => {
  const cooling = settingsWith({ coolDownAfterLoss: 30 });
  await relay.sendUnder(cooling, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  relay.setPrice('47000');
  const resting = { orderType: 'limit', limitPrice: '47500', maxSlippage: undefined };
  await relay.sendUnder(cooling, { action: 'sell', quantity: '0.02', reduceOnly: true, ...resting });
  await goOn(20_000);
  relay.setPrice('47500');

  expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.001' })).toMatchObject({
    rule: 'cool_down_after_loss',
  });
  const used = await usedOfLoss();
  expect(used).toMatch(/^5[01]\./);
  await goOn(minuteMs);
  expect(await usedOfLoss()).toBe(used);
});

test('deals of one millisecond count in the order in which they were made', async () => {
  const cooling = settingsWith({ coolDownAfterLoss: 30 });
  await relay.sendUnder(cooling, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  relay.setPrice('60000');
  await tradeByHand('buy', '0.02');
  relay.setPrice('53000');
  // The average price is 55000 now; without the order before, it would be 50000.
  await tradeByHand('sell', '0.01');

  expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.001' })).toMatchObject({
    rule: 'cool_down_after_loss',
  });
});

test('a relay whose clock is ahead of the exchange keeps the cost of what its first order opens', async () => {
  const { clock } = relay.services;
  Object.assign(relay.services, { clock: override(clock, { nowMs: () => clock.nowMs() + 2000 }) });
  expect(await relay.sendUnder(limited, { ...entry, stopLoss: undefined })).toEqual(placed);
  await goOn(20_000);
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  await goOn(minuteMs);

  expect(await reportedProfit()).toBe('-51.9501998');
  expect(await usedOfLoss()).toBe('51.9501998');
});

test('a clock that is set right while the account is first read dates no later deal before that', async () => {
  const { clock, exchangeFor } = relay.services;
  let aheadMs = 50_000;
  Object.assign(relay.services, {
    clock: override(clock, { nowMs: () => clock.nowMs() + aheadMs }),
    exchangeFor: async (account: string) => {
      const client = await exchangeFor(account);
      const call: typeof client.call = (endpoint, ...rest) => {
        if (endpoint.name === openPositions.name) aheadMs = 0;
        return client.call(endpoint, ...rest);
      };
      return override(client, { call });
    },
  });
  expect(await relay.sendUnder(limited, { ...entry, stopLoss: undefined })).toEqual(placed);
  await goOn(20_000);
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  await goOn(minuteMs);

  expect(await reportedProfit()).toBe('-51.9501998');
  expect(await usedOfLoss()).toBe('51.9501998');
});

test('what the relay had dealt just before it first read the account is counted once', async () => {
  // Without a limit of loss, nothing is read before the order.
  await relay.sendUnder(settingsWith({}), { ...entry, stopLoss: undefined });
  await relay.follow();
  relay.clock.advance(4000);
  await relay.reconcile();
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(2 * longestPositionLagMs);

  expect(await usedOfLoss()).toBe('51.9501998');
  expect(await reportedProfit()).toBe('-51.9501998');
});

test('the day of a loss is that of the time zone of the account', async () => {
  const inNewYork = settingsWith({ maxDailyLoss: '40', timeZone: 'America/New_York' });
  const nowMs = relay.clock.nowMs();
  relay.clock.advance(dayMs - (nowMs % dayMs) - 60 * minuteMs);
  await relay.sendUnder(inNewYork, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  // One in the morning in London is eight in the evening of the day before in New York.
  relay.clock.advance(2 * 60 * minuteMs);

  expect(await usedOfLoss(inNewYork)).toBe('51.9501998');
  expect(await usedOfLoss()).toBe('0');
});

test('a deal by hand of days ago is in the books of average cost, and not in the loss of this day', async () => {
  await relay.sendUnder(limited, { ...entry, stopLoss: undefined });
  await goOn(20_000);
  relay.setPrice('47500');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(3 * 24 * 60 * minuteMs);

  expect(await usedOfLoss()).toBe('0');
  const before = await readCollateral();
  expect(await relay.sendUnder(limited, { action: 'buy', quantity: '0.02' })).toEqual(placed);
  relay.setPrice('48000');
  await tradeByHand('sell', '0.02');
  relay.clock.advance(2 * longestPositionLagMs);
  const gained = (await readCollateral()).minus(before);

  expect(gained.gt(zero)).toBe(true);
  expect(await usedOfLoss()).toBe(formatDecimal(gained.neg().round(8)));
});

test('in hedge mode, an order by hand closes the position that is held', async () => {
  relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
  relay.paper.control.setHedgeMode('main', true);
  const first = await readCollateral();
  const long = { ticker: 'BTCUSDT.P', action: 'buy', quantity: '0.01', positionSide: 'LONG' };
  expect(await relay.sendUnder(limited, long, 'BTC_PERP')).toEqual(placed);
  await goOn(20_000);
  relay.paper.control.setPrice('BTC_PERP', parseDecimal('45000'));
  const client = await relay.services.exchangeFor('main');
  await client.call(limitEndpoint, {
    market: 'BTC_PERP',
    side: 'sell',
    positionSide: 'LONG',
    amount: parseDecimal('0.01'),
    price: parseDecimal('44000'),
    clientOrderId: '',
  });
  relay.clock.advance(2 * longestPositionLagMs);

  expect(await relay.sendUnder(limited, long, 'BTC_PERP')).toMatchObject({ rule: 'max_daily_loss' });
  expect(await usedOfLoss()).toBe(formatDecimal(first.minus(await readCollateral()).round(8)));
});
