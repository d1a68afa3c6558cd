import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { checkPause } from '../../lib/limits/check-order.ts';
import type { Fill } from '../../lib/model/execution.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { insertOldOrders } from '../simulation/old-orders.ts';
import { minuteMs, noonMs } from '../support/aftermath.ts';
import { type LimitedRelay, openLimitedRelay, settingsWith } from '../support/limited-relay.ts';
import { override } from '../support/override.ts';

/** A Monday, 14:13:20 UTC. */
let relay: LimitedRelay;
let count: number;

beforeEach(async () => {
  count = 0;
  relay = await openLimitedRelay();
});
afterEach(() => relay.close());

/** Sends a market order, or what the fields say, under these limits. */
const send = (settings: Settings, fields: object) => relay.sendUnder(settings, fields);

const position = () => relay.paper.control.state();
const placed = { status: 'placed' };
const resting = { orderType: 'limit', maxSlippage: undefined, limitPrice: '40000' };

async function recordFill(fill: Partial<Fill>): Promise<void> {
  const { executions, ledger } = relay.services;
  const { entries } = await ledger.list({ status: 'placed', limit: 1 });
  const [entry] = entries;
  if (entry === undefined) throw new Error('there is no placed order');
  const recorded: Fill = {
    account: 'main',
    market: 'BTC_USDT',
    dealId: 1000 + count,
    atMs: relay.clock.nowMs(),
    signalId: entry.signalId,
    orderId: 1,
    role: 'order',
    side: 'buy',
    liquidity: 'taker',
    amount: '0.01',
    price: '50000',
    notional: '500',
    fee: '0',
    feeAsset: 'USDT',
    ...fill,
  };
  count += 1;
  await executions.record(
    entry,
    { revision: (entry.execution?.revision ?? 0) + 1, readAtMs: recorded.atMs, orders: [], isFollowed: true },
    [recorded],
  );
}

describe('maxPosition', () => {
  test('allows the position of exactly that size, and denies the smallest step more', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });

    expect(await send(settings, { action: 'buy', quantity: '0.015' })).toEqual(placed);
    expect(await send(settings, { action: 'buy', quantity: '0.00501' })).toEqual({
      status: 'denied',
      rule: 'max_position',
      limit: '0.02',
      actual: '0.02001',
    });
    expect(await send(settings, { action: 'buy', quantity: '0.005' })).toEqual(placed);
  });

  test.each(['open-positions', 'open-order'])(
    'lets nothing open while a record of the list %s cannot be read, and lets reductions pass',
    async (endpoint) => {
      const settings = settingsWith({}, { maxPosition: '0.05' });
      expect(await send(settings, { action: 'buy', quantity: '0.02' })).toEqual(placed);
      expect(await send(settings, { action: 'buy', quantity: '0.01', ...resting })).toEqual(placed);
      relay.clock.advance(minuteMs);
      relay.paper.control.addFault({ fault: 'unreadable_record', endpoint, probability: 1 });

      expect(await send(settings, { action: 'buy', quantity: '0.001' })).toMatchObject({
        status: 'denied',
        rule: 'limit_not_known',
      });
      expect(await send(settings, { action: 'sell', quantity: '0.02', reduceOnly: true })).toEqual(placed);
    },
  );

  test('counts open entry orders of the market, also those that the exchange does not list yet', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 30_000, probability: 1 });

    expect(await send(settings, { action: 'buy', quantity: '0.015', ...resting })).toEqual(placed);
    expect(await send(settings, { action: 'buy', quantity: '0.01' })).toMatchObject({
      status: 'denied',
      rule: 'max_position',
      actual: '0.025',
    });
    relay.paper.control.clearFaults();
    relay.clock.advance(minuteMs);
    expect(await send(settings, { action: 'buy', quantity: '0.01' })).toMatchObject({ actual: '0.025' });
    expect(await send(settings, { action: 'sell', quantity: '0.02' })).toEqual(placed);
  });

  test('holds for both sides, and lets a position be closed and turned', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });
    await send(settings, { action: 'buy', quantity: '0.02' });

    expect(await send(settings, { action: 'sell', quantity: '0.05' })).toMatchObject({ actual: '0.03' });
    expect(await send(settings, { action: 'sell', quantity: '0.04' })).toEqual(placed);
  });

  test('does not count on a position that may be closed before a resting order is filled', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });
    const above = { ...resting, limitPrice: '60000' };
    await send(settings, { action: 'buy', quantity: '0.02' });

    expect(await send(settings, { action: 'sell', quantity: '0.02', ...above })).toEqual(placed);
    expect(await send(settings, { action: 'sell', quantity: '0.02', ...above })).toMatchObject({
      actual: '0.04',
    });
    expect(await send(settings, { action: 'sell', quantity: '0.02' })).toEqual(placed);
  });

  test('counts a fill that is known, while the list of positions may lag behind it', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });
    expect(await send(settings, { action: 'buy', quantity: '0.02' })).toEqual(placed);
    relay.clock.advance(3_000);
    await relay.follow();
    relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-positions', delayMs: 8_000 });

    expect(await send(settings, { action: 'buy', quantity: '0.02' })).toMatchObject({ actual: '0.04' });
    expect(await send(settings, { action: 'sell', quantity: '0.02' })).toEqual(placed);
  });

  test('does not count on a position that a close has just ended, while the list may still show it', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });
    await send(settings, { action: 'sell', quantity: '0.02' });
    relay.clock.advance(longestPositionLagMs + 1);
    expect(await send(settings, { action: 'close', orderType: undefined })).toEqual(placed);
    relay.clock.advance(3_000);
    relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-positions', delayMs: 8_000 });

    expect(await send(settings, { action: 'buy', quantity: '0.04' })).toMatchObject({
      rule: 'max_position',
      actual: '0.04',
    });
  });

  test('counts an order whose outcome is unknown', async () => {
    const settings = settingsWith({}, { maxPosition: '0.02' });
    relay.paper.control.addFault({ fault: 'drop_before', endpoint: 'limit' });

    expect(await send(settings, { action: 'buy', quantity: '0.02', ...resting })).toMatchObject({
      status: 'unknown',
    });
    expect(await send(settings, { action: 'buy', quantity: '0.001' })).toMatchObject({ actual: '0.021' });
  });
});

describe('maxOpenNotional', () => {
  test('adds up positions, open orders and the order, and allows exactly that much', async () => {
    const settings = settingsWith({ maxOpenNotional: '1500' });

    expect(await send(settings, { action: 'buy', quantity: '0.01' })).toEqual(placed);
    expect(await send(settings, { action: 'buy', quantity: '0.01', ...resting })).toEqual(placed);
    expect(await send(settings, { action: 'buy', quantity: '0.01501', ...resting })).toMatchObject({
      status: 'denied',
      rule: 'max_open_notional',
      limit: '1500',
      actual: '1500.4',
    });
    expect(await send(settings, { action: 'buy', quantity: '0.015', ...resting })).toEqual(placed);
  });

  test('counts an order of another market that was placed and filled after the positions were read', async () => {
    const settings = settingsWith({ maxOpenNotional: '1500' });
    const { ledger } = relay.services;
    const first = override(ledger, {
      start: async (...args) => {
        Object.assign(relay.services, { ledger });
        const meanwhile = { action: 'buy', ticker: 'BTCUSDT.P', quantity: '0.02' };
        expect(await relay.sendUnder(settings, meanwhile, 'BTC_PERP')).toEqual(placed);
        return await ledger.start(...args);
      },
    });
    Object.assign(relay.services, { ledger: first });

    expect(await send(settings, { action: 'buy', quantity: '0.02' })).toMatchObject({
      status: 'denied',
      rule: 'max_open_notional',
    });
  });

  test('denies what is worth nobody knows how much, and lets the position be closed', async () => {
    const settings = settingsWith({ maxOpenNotional: '1500' });
    await send(settings, { action: 'buy', quantity: '0.01' });
    await relay.beginAsBefore({ action: 'buy', quoteQuantity: '100', limitPrice: '40000' });

    expect(await send(settings, { action: 'buy', quantity: '0.001' })).toMatchObject({
      rule: 'limit_not_known',
    });
    expect(await send(settings, { action: 'sell', quantity: '0.01' })).toEqual(placed);
  });
});

describe('exits that protect more than there is', () => {
  const most = settingsWith({}, { maxPosition: '0.02' });

  beforeEach(async () => {
    const entry = { action: 'buy', quantity: '0.02', stopLoss: '45000', takeProfit: '55000' };
    await send(settingsWith({}), entry);
    relay.clock.advance(2 * longestPositionLagMs);
    await relay.follow();
  });

  test('count as orders that open, once for a pair, when the position was closed by hand', async () => {
    await sellByHand('0.02');

    expect(await send(most, { action: 'sell', quantity: '0.001' })).toMatchObject({
      rule: 'max_position',
      actual: '0.021',
    });
    expect(
      await send(settingsWith({}, { maxPosition: '0.021' }), { action: 'sell', quantity: '0.001' }),
    ).toEqual(placed);
  });

  test('count with what they exceed the position by', async () => {
    await sellByHand('0.005');

    expect(await send(most, { action: 'sell', quantity: '0.031', ...aboveIt })).toMatchObject({
      rule: 'max_position',
      actual: '0.036',
    });
    expect(await send(most, { action: 'sell', quantity: '0.015', ...aboveIt })).toEqual(placed);
  });

  test('count for nothing while the position is as large', async () => {
    expect(await send(most, { action: 'sell', quantity: '0.02', ...aboveIt })).toEqual(placed);
  });
});

const aboveIt = { orderType: 'limit', maxSlippage: undefined, limitPrice: '60000' };

async function sellByHand(amount: string): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const order = { market: 'BTC_USDT', amount: parseDecimal(amount), clientOrderId: '' };
  await client.call(limitEndpoint, { ...order, side: 'sell', price: parseDecimal('49000') });
  relay.clock.advance(2 * longestPositionLagMs);
}

describe('maxDailyLoss', () => {
  const settings = () => settingsWith({ maxDailyLoss: '100' });

  test('pauses the account at exactly that loss, with an alarm, and lets reductions through', async () => {
    await send(settings(), { action: 'buy', quantity: '0.02' });
    relay.setPrice('47500.01');
    // In a market of its own: the cost of the position above is that of its one order.
    const elsewhere = { market: 'ETH_USDT', amount: '0.001' };
    await recordFill({ ...elsewhere, side: 'sell', price: '50000' });
    // The response to the first order has told a fee of 1.
    await recordFill({ ...elsewhere, side: 'buy', price: '99000' });

    expect(await send(settings(), { action: 'buy', quantity: '0.001', ...resting })).toEqual(placed);
    relay.setPrice('47500');
    expect(await send(settings(), { action: 'buy', quantity: '0.001' })).toMatchObject({
      status: 'denied',
      rule: 'max_daily_loss',
      limit: '100',
    });
    expect(relay.alarms.map(({ name }) => name)).toEqual(['daily_loss']);
    relay.setPrice('50000');
    expect(checkPause(await relay.services.ledger.readPause('main'))).toMatchObject({ rule: 'paused' });
    expect(await send(settings(), { action: 'buy', quantity: '0.001' })).toMatchObject({ rule: 'paused' });
    expect(await send(settings(), { action: 'sell', quantity: '0.005', reduceOnly: true })).toEqual(placed);
    expect(await send(settings(), { action: 'sell', quantity: '0.005' })).toEqual(placed);
    expect(relay.alarms).toHaveLength(1);
  });

  test('counts what is dealt in play money as nothing', async () => {
    const both = settingsWith({ maxDailyLoss: '100', coolDownAfterLoss: 30 });
    const play = { market: 'DBTC_DUSDT', amount: '1' };
    expect(await send(both, { action: 'buy', quantity: '0.0001' })).toEqual(placed);
    await recordFill({ ...play, side: 'buy', price: '50000' });
    await recordFill({ ...play, side: 'sell', price: '10000' });

    expect(await send(both, { action: 'buy', quantity: '0.02' })).toEqual(placed);
    relay.setPrice('40000');
    expect(await send(both, { action: 'buy', quantity: '0.02' })).toMatchObject({ rule: 'max_daily_loss' });
  });

  test.each(['everything', 'entries'] as const)(
    "an operator's pause of %s stops what it says, whatever its reason is",
    async (kind) => {
      await send(settings(), { action: 'buy', quantity: '0.02' });
      const reason = 'maxDailyLoss: near';
      await relay.services.ledger.writePause('main', { sinceMs: noonMs, reason, kind });

      const reduction = await send(settings(), { action: 'sell', quantity: '0.02', reduceOnly: true });
      expect(reduction).toMatchObject({ status: kind === 'everything' ? 'denied' : 'placed' });
      expect(await send(settings(), { action: 'buy', quantity: '0.02' })).toMatchObject({ rule: 'paused' });
    },
  );
});

describe('coolDownAfterLoss', () => {
  test('denies until exactly that time after the fill, and lets reductions through', async () => {
    const settings = settingsWith({ coolDownAfterLoss: 30 });
    await send(settings, { action: 'buy', quantity: '0.02' });
    await recordFill({ side: 'buy', amount: '0.02', price: '50000' });
    await recordFill({ side: 'sell', amount: '0.01', price: '49999' });
    // The exchange knows nothing of these fills: they count as older than the position that it shows.
    await relay.reconcile();

    relay.clock.advance(30 * minuteMs - 1);
    expect(await send(settings, { action: 'buy', quantity: '0.01' })).toMatchObject({
      status: 'denied',
      rule: 'cool_down_after_loss',
      limit: '30 min',
      actual: '29 min',
    });
    relay.setPrice('51000');
    expect(await send(settings, { action: 'sell', quantity: '0.01' })).toEqual(placed);
    relay.clock.advance(1);
    expect(await send(settings, { action: 'buy', quantity: '0.01' })).toEqual(placed);
  });
});

describe('a loss that only a response has told', () => {
  /** Buys, and follows it; the list of deals shows nothing later for a while. */
  async function buyFollowed(): Promise<void> {
    await send(settingsWith({}), { action: 'buy', quantity: '0.02' });
    relay.clock.advance(2 * longestPositionLagMs);
    await relay.follow();
    lag('executed-history');
  }

  const lag = (endpoint: string) =>
    relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs: 8_000, probability: 1 });

  test('counts for maxDailyLoss', async () => {
    await buyFollowed();
    relay.setPrice('44000');
    await send(settingsWith({}), { action: 'sell', quantity: '0.02', reduceOnly: true });

    expect(
      await send(settingsWith({ maxDailyLoss: '100' }), { action: 'buy', quantity: '0.001' }),
    ).toMatchObject({
      rule: 'max_daily_loss',
    });
  });

  test('starts coolDownAfterLoss', async () => {
    await buyFollowed();
    relay.setPrice('49000');
    await send(settingsWith({}), { action: 'sell', quantity: '0.02', reduceOnly: true });

    expect(
      await send(settingsWith({ coolDownAfterLoss: 30 }), { action: 'buy', quantity: '0.001' }),
    ).toMatchObject({
      rule: 'cool_down_after_loss',
    });
  });

  test('starts it also when a thousand older orders count as open', async () => {
    await buyFollowed();
    insertOldOrders(relay.file, relay.clock.nowMs());
    relay.setPrice('49000');
    await send(settingsWith({}), { action: 'sell', quantity: '0.02', reduceOnly: true });

    expect(
      await send(settingsWith({ coolDownAfterLoss: 30 }), { action: 'buy', quantity: '0.001' }),
    ).toMatchObject({
      rule: 'cool_down_after_loss',
    });
  });

  test('counts once when it is followed, and once while the list of positions lags', async () => {
    await buyFollowed();
    relay.setPrice('46000');
    lag('open-positions');
    await send(settingsWith({}), { action: 'sell', quantity: '0.02', reduceOnly: true });
    const limited = settingsWith({ maxDailyLoss: '100' });

    expect(await send(limited, { action: 'buy', quantity: '0.001', ...resting })).toEqual(placed);
    await relay.follow();
    expect(await send(limited, { action: 'buy', quantity: '0.001', ...resting })).toEqual(placed);
    relay.clock.advance(2 * longestPositionLagMs);
    expect(await send(limited, { action: 'buy', quantity: '0.001', ...resting })).toEqual(placed);
  });
});

describe('the largest order and the sides of a market', () => {
  const bought = { maxAmount: '0.01', maxNotional: '500', sides: ['buy'] };

  test.each([
    ['an order that only reduces', { reduceOnly: true, quantity: '0.03' }],
    ['all of the position as a share', { quantityPercent: '100%', of: 'position' }],
    ['an order that closes it by its size alone', { quantity: '0.03' }],
  ])('let %s through', async (_, fields) => {
    await send(settingsWith({}), { action: 'buy', quantity: '0.03' });
    relay.clock.advance(longestPositionLagMs + 1);

    expect(await send(settingsWith({}, bought), { action: 'sell', ...fields })).toEqual(placed);
    expect(await relay.held()).toEqual([]);
  });

  test('deny an order that turns it, and one that rests until it may be gone', async () => {
    await send(settingsWith({}), { action: 'buy', quantity: '0.03' });
    relay.clock.advance(longestPositionLagMs + 1);
    const small = settingsWith({}, { maxAmount: '0.01' });

    const turning = { action: 'sell', quantity: '0.031' };
    expect(await send(small, turning)).toMatchObject({ rule: 'max_amount' });
    expect(await send(settingsWith({}, bought), turning)).toMatchObject({ rule: 'side_not_allowed' });
    const sale = { action: 'sell', quantity: '0.02', ...resting, limitPrice: '60000' };
    expect(await send(small, sale)).toMatchObject({ rule: 'max_amount' });
  });

  test('deny what may open one', async () => {
    expect(await send(settingsWith({}, bought), { action: 'sell', quantity: '0.01' })).toMatchObject({
      rule: 'side_not_allowed',
    });
    expect(await send(settingsWith({}, bought), { action: 'buy', quantity: '0.011' })).toMatchObject({
      rule: 'max_amount',
    });
  });
});

describe('an order that reduces by its size alone', () => {
  const closed = { tradingWindows: [{ from: '15:00', until: '14:00' }] };
  const sale = { action: 'sell', quantity: '0.02' };
  const above = { ...resting, limitPrice: '60000' };
  const last = () => position().orders.findLast(({ side }) => side === 'sell');

  beforeEach(async () => {
    await send(settingsWith({}), { action: 'buy', quantity: '0.02' });
    relay.clock.advance(2 * longestPositionLagMs);
  });

  test('is sent as one that only reduces where limits would deny it without the position', async () => {
    expect(await send(settingsWith(closed), sale)).toEqual(placed);
    expect(last()).toMatchObject({ reduceOnly: true });

    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 1 });
    const facts = entries[0]?.steps.find(({ status }) => status === 'sending')?.facts;
    expect(facts?.counted).toMatchObject({ amount: '0.02', onlyReduces: true });
  });

  test('is sent as it is where they would not', async () => {
    expect(await send(settingsWith({}, { maxPosition: '0.02' }), sale)).toEqual(placed);
    expect(last()).toMatchObject({ reduceOnly: false });
  });

  test('is sent as one that only reduces above the rate of orders', async () => {
    const slow = settingsWith({ maxOrdersPerMinute: 1 }, { maxPosition: '0.05' });
    expect(await send(slow, { action: 'buy', quantity: '0.01', ...resting })).toEqual(placed);

    expect(await send(slow, sale)).toEqual(placed);
    expect(last()).toMatchObject({ reduceOnly: true });
    const { entries } = await relay.services.ledger.list({ account: 'main', limit: 1 });
    const facts = entries[0]?.steps.find(({ status }) => status === 'sending')?.facts;
    expect(facts?.counted).toMatchObject({ amount: '0.02', onlyReduces: true });
  });

  test('is sent as one that only reduces where it rests, too', async () => {
    expect(await send(settingsWith(closed), { ...sale, ...above })).toEqual(placed);
    expect(last()).toMatchObject({ reduceOnly: true });
  });

  test('is denied where they would deny it without the position and it has exits of its own', async () => {
    const order = { ...sale, stopLoss: '60000' };
    expect(await send(settingsWith(closed), order)).toMatchObject({ rule: 'trading_windows' });
    expect(await send(settingsWith({ maxOpenNotional: '1200' }), order)).toEqual(placed);
    expect(last()).toMatchObject({ reduceOnly: false });
  });
});

describe('tradingWindows', () => {
  test('denies outside the windows, and lets reductions through', async () => {
    const open = settingsWith({ tradingWindows: [{ from: '14:00', until: '15:00' }] });
    const closed = settingsWith({ tradingWindows: [{ from: '15:00', until: '14:00' }] });

    expect(await send(open, { action: 'buy', quantity: '0.01' })).toEqual(placed);
    expect(await send(closed, { action: 'buy', quantity: '0.01' })).toMatchObject({
      status: 'denied',
      rule: 'trading_windows',
      limit: 'every day 15:00–14:00',
    });
    expect(await send(closed, { action: 'sell', quantity: '0.01' })).toEqual(placed);
  });
});

test('in the documented dialect, trading windows hold for every order that is not marked as a reduction', async () => {
  await relay.close();
  relay = await openLimitedRelay('documented');
  relay.setPrice('50000');
  const closed = settingsWith({ limitOffset: '0.1%', tradingWindows: [{ from: '15:00', until: '14:00' }] });
  const stop = { orderType: undefined, maxSlippage: undefined, stopPrice: '50100', quantity: '0.01' };

  expect(await send(closed, { action: 'buy', ...stop })).toMatchObject({ rule: 'trading_windows' });
  expect(await send(settingsWith({ limitOffset: '0.1%' }), { action: 'buy', ...stop })).toEqual(placed);
});

test.each([{ maxDailyLoss: '40' }, { coolDownAfterLoss: 30 }, { maxOpenNotional: '5000' }])(
  'in the documented dialect nobody can count for %j: only what is marked as a reduction is sent',
  async (limit) => {
    await relay.close();
    relay = await openLimitedRelay('documented');
    relay.setPrice('50000');
    const settings = settingsWith({ limitOffset: '0.1%', ...limit });
    const stop = { orderType: undefined, maxSlippage: undefined, stopPrice: '50100', quantity: '0.01' };

    expect(await send(settings, { action: 'buy', ...stop })).toMatchObject({ rule: 'limit_not_known' });
    expect(relay.paper.control.state().orders).toEqual([]);
    expect(await send(settings, { action: 'buy', ...stop, reduceOnly: true })).not.toMatchObject({
      rule: 'limit_not_known',
    });
  },
);

test('an account without limits of risk causes no request for them', async () => {
  await relay.begin();
  await send(settingsWith({}), { action: 'buy', quantity: '0.01' });

  expect(relay.asked).not.toContain('/api/v4/collateral-account/positions/open');
  expect(position().orders).toHaveLength(1);
});

test.each(['open-positions', 'open-order'])(
  'an order that says that it only reduces is sent while %s cannot be read',
  async (endpoint) => {
    const settings = settingsWith({ maxOpenNotional: '5000' });
    await send(settings, { action: 'buy', quantity: '0.02' });
    relay.paper.control.addFault({ fault: 'error_before', endpoint, probability: 1 });

    expect(await send(settings, { action: 'sell', quantity: '0.01', reduceOnly: true })).toEqual(placed);
    expect(await send(settings, { action: 'buy', quantity: '0.01' })).toMatchObject({ status: 'not_sent' });
  },
);
