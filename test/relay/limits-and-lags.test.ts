import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readLimitUse } from '../../lib/account/limit-use.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import { spotStockMarket } from '../../lib/exchange/endpoints/spot-stock-market.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { insertOldOrders } from '../simulation/old-orders.ts';
import { minuteMs, openAftermath } from '../support/aftermath.ts';
import {
  changePositions,
  type LimitedRelay,
  openLimitedRelay,
  settingsWith,
} from '../support/limited-relay.ts';
import { override } from '../support/override.ts';

/** A Monday, 14:13:20 UTC. */
let relay: LimitedRelay;

beforeEach(async () => {
  relay = await openLimitedRelay();
});
afterEach(() => relay.close());

const free = settingsWith({});
const most = settingsWith({}, { maxPosition: '0.02' });
const closed = settingsWith({ tradingWindows: [{ from: '15:00', until: '14:00' }] });
const placed = { status: 'placed' };
const limit = { orderType: 'limit', maxSlippage: undefined };
const below = { ...limit, limitPrice: '49000' };
const above = { ...limit, limitPrice: '60000' };
const bare = { orderType: undefined, maxSlippage: undefined };
const perp = { ticker: 'BTCUSDT.P', positionSide: 'LONG', quantity: '0.02' };

const lagPositions = (delayMs = 8_000) =>
  relay.paper.control.addFault({ fault: 'read_lag', endpoint: 'open-positions', delayMs, probability: 1 });
const lagOrders = () =>
  relay.paper.control.addFault({
    fault: 'read_lag',
    endpoint: 'open-order',
    delayMs: 30_000,
    probability: 1,
  });

/** No list shows deals or ended orders of the last seconds; positions and open orders are as they are. */
function lagDeals(delayMs = 9_000): void {
  for (const endpoint of ['executed-history', 'order-deals', 'ended-order'])
    relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs, probability: 1 });
}

/** As time goes on in a relay: the minute's watch, and the follower. */
async function goOn(ms: number): Promise<void> {
  relay.clock.advance(ms);
  await relay.reconcile();
  await relay.follow();
}

/** An order that has rested for minutes, and was followed. */
async function rest(fields: object): Promise<void> {
  expect(await relay.sendUnder(free, fields)).toEqual(placed);
  relay.clock.advance(1000);
  await relay.follow();
  relay.clock.advance(5 * minuteMs);
  await relay.follow();
}

/** From now on, the list of positions shows what was before. */
function moveTo(price: string, amount?: string): void {
  relay.paper.control.setPrice(
    'BTC_USDT',
    parseDecimal(price),
    amount === undefined ? undefined : parseDecimal(amount),
  );
  relay.clock.advance(1000);
  lagPositions();
}

describe('While the list of positions lags, an entry is denied that', () => {
  test('comes after an old order that has left the list of open orders', async () => {
    await rest({ action: 'buy', quantity: '0.02', ...below });
    moveTo('49000');

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.02' })).toMatchObject({
      rule: 'max_position',
      actual: '0.04',
    });
  });

  test('counts on a position that an own stop order has just closed', async () => {
    await relay.sendUnder(free, { action: 'buy', quantity: '0.02' });
    const stop = { orderType: 'stop_limit', maxSlippage: undefined, stopPrice: '49000', limitPrice: '48900' };
    await rest({ action: 'sell', quantity: '0.02', reduceOnly: true, ...stop });
    moveTo('49000');

    expect(await relay.sendUnder(closed, { action: 'sell', quantity: '0.02' })).toMatchObject({
      rule: 'trading_windows',
    });
  });

  test.each([
    ['was followed', true],
    ['was not followed', false],
  ])('comes after a fill in part of an open order that %s', async (_, isFollowed) => {
    await rest({ action: 'buy', quantity: '0.02', ...below });
    moveTo('49000', '0.015');
    if (isFollowed) await relay.follow();

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.01' })).toMatchObject({
      rule: 'max_position',
      actual: '0.03',
    });
  });

  test.each([
    ['is larger than the limit', most, '0.04', { rule: 'max_position', actual: '0.04' }],
    ['is as large as the old position', closed, '0.02', { rule: 'trading_windows' }],
  ])('counts on a position that its stop-loss has closed, and %s', async (_, settings, quantity, denial) => {
    await rest({ action: 'buy', quantity: '0.02', stopLoss: '49000' });
    relay.setPrice('49000');
    relay.clock.advance(3_000);
    await relay.follow();
    lagPositions();

    expect(await relay.sendUnder(settings, { action: 'sell', quantity })).toMatchObject(denial);
  });

  test.each([
    ['whole', undefined, '0.04'],
    ['in part', '0.015', '0.035'],
  ])('comes after an order that a cancellation found filled (%s)', async (_, amount, actual) => {
    await rest({ action: 'buy', quantity: '0.02', ...below });
    moveTo('49000', amount);
    await relay.sendUnder(most, { action: 'cancel_all', ...bare });

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.02' })).toMatchObject({
      rule: 'max_position',
      actual,
    });
  });

  test('is the third within a second, when the list shows the first alone', async () => {
    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.01' })).toEqual(placed);
    relay.clock.advance(900);
    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.01' })).toEqual(placed);
    relay.clock.advance(3_000);
    await relay.follow();
    lagPositions(3_500);

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.01' })).toMatchObject({
      actual: '0.03',
    });
  });

  test('counts on a position that was just closed, and a thousand older orders are followed', async () => {
    await relay.sendUnder(free, { action: 'buy', quantity: '0.02' });
    relay.clock.advance(longestPositionLagMs + 1);
    const close = { action: 'close', keepEntries: true, ...bare, maxSlippage: '1%' };
    expect(await relay.sendUnder(free, close)).toEqual(placed);
    insertOldOrders(relay.file, relay.clock.nowMs());
    lagPositions();

    expect(await relay.sendUnder(most, { action: 'sell', quantity: '0.04' })).toMatchObject({
      rule: 'max_position',
      actual: '0.04',
    });
  });

  test('comes with an order by hand at the price of an exit that is long gone', async () => {
    relay.paper.control.listCancelled('main', false);
    const exits = { stopLoss: '48000', takeProfit: '60000' };
    await relay.sendUnder(free, { action: 'buy', quantity: '0.02', ...exits });
    relay.clock.advance(longestPositionLagMs + 1);
    expect(await relay.sendUnder(free, { action: 'close', ...bare, maxSlippage: '1%' })).toEqual(placed);
    for (let minutes = 0; minutes < 40; minutes += 1) {
      await relay.follow();
      relay.clock.advance(minuteMs);
    }
    const client = await relay.services.exchangeFor('main');
    const order = { side: 'sell', amount: parseDecimal('0.02'), price: parseDecimal('60000') } as const;
    await client.call(limitEndpoint, { market: 'BTC_USDT', clientOrderId: '', ...order });

    expect(await relay.sendUnder(most, { action: 'sell', quantity: '0.02', ...above })).toMatchObject({
      rule: 'max_position',
      actual: '0.04',
    });
  });

  test('a close whose response was lost has made room for, perhaps', async () => {
    const unguarded = settingsWith(
      { maxSlippage: null, allowUnguardedMarket: true },
      { maxPosition: '0.02' },
    );
    await relay.sendUnder(unguarded, { action: 'sell', quantity: '0.02', maxSlippage: undefined });
    relay.clock.advance(longestPositionLagMs + 1);
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'market' });
    expect(await relay.sendUnder(unguarded, { action: 'close', ...bare })).toMatchObject({
      status: 'unknown',
    });
    lagPositions();

    expect(
      await relay.sendUnder(unguarded, { action: 'buy', quantity: '0.04', maxSlippage: undefined }),
    ).toMatchObject({ rule: 'max_position', actual: '0.04' });
  });
});

describe('While the list of positions lags, the loss of a fill that it does not show counts', () => {
  const careful = settingsWith({ maxDailyLoss: '15' });
  const buy = { action: 'buy', quantity: '0.02', maxSlippage: '5%' };

  test.each([
    ['in its own market', buy, 'BTC_USDT'],
    ['in another market', { ...buy, ticker: 'BTCUSDT.P' }, 'BTC_PERP'],
  ])('%s', async (_, next, market) => {
    relay.clock.advance(1_000);
    lagPositions();
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    for (const each of ['BTC_USDT', 'BTC_PERP']) relay.paper.control.setPrice(each, parseDecimal('49000'));

    expect(await relay.sendUnder(careful, next, market)).toMatchObject({
      status: 'denied',
      rule: 'max_daily_loss',
    });
  });

  test('that only the response to its cancellation tells', async () => {
    const most = settingsWith({ maxDailyLoss: '750' });
    const order = { ...buy, ...limit, quantity: '2', limitPrice: '50010' };
    expect(await relay.sendUnder(most, order)).toEqual(placed);
    relay.clock.advance(1_000);
    lagPositions();
    lagDeals();
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.9'));
    await relay.sendUnder(most, { action: 'cancel_all', ...bare });

    expect(await relay.sendUnder(most, { ...buy, quantity: '0.001' })).toMatchObject({
      rule: 'max_daily_loss',
    });
  });

  test('and no loss is made up of what the price allowed beyond that of the fill', async () => {
    relay.clock.advance(1_000);
    lagPositions();
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);

    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
  });
});

describe('What was opened and closed within seconds counts once', () => {
  const careful = settingsWith({ maxDailyLoss: '25' });
  const buy = { action: 'buy', quantity: '0.02', maxSlippage: '5%' };
  const next = { ...buy, quantity: '0.001' };

  async function closeByHand(amount: string, side: 'buy' | 'sell' = 'sell'): Promise<void> {
    const client = await relay.services.exchangeFor('main');
    const order = { market: 'BTC_USDT', side, amount: parseDecimal(amount) } as const;
    await client.call(marketEndpoint, { ...order, clientOrderId: '' });
    relay.clock.advance(1_000);
  }

  test.each([['by hand'], ['by its stop-loss']])('its loss, when it was closed %s', async (how) => {
    const isStop = how === 'by its stop-loss';
    expect(await relay.sendUnder(careful, { ...buy, ...(isStop ? { stopLoss: '49100' } : {}) })).toEqual(
      placed,
    );
    relay.clock.advance(2_000);
    relay.setPrice('49100');
    if (!isStop) await closeByHand('0.02');
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, next)).toEqual(placed);
  });

  test('nothing, when the relay closed all of it', async () => {
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    relay.clock.advance(1_000);
    expect(await relay.sendUnder(careful, { action: 'close', ...bare, maxSlippage: '1%' })).toEqual(placed);

    expect(await relay.sendUnder(careful, next)).toEqual(placed);
    expect(await relay.sendUnder(careful, { ...next, ticker: 'BTCUSDT.P' }, 'BTC_PERP')).toEqual(placed);
  });

  test('its profit, beside a loss of the day', async () => {
    const other = { ...perp, positionSide: undefined, action: 'buy' };
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    expect(await relay.sendUnder(careful, other, 'BTC_PERP')).toEqual(placed);
    await goOn(20_000);
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    relay.clock.advance(1_000);
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('48400'));
    relay.setPrice('50300');
    await closeByHand('0.02');

    expect(await relay.sendUnder(careful, next)).toMatchObject({ rule: 'max_daily_loss' });
  });

  test.each([
    ['long', 'buy', '48500'],
    ['short', 'sell', '51500'],
  ] as const)('and what is left of it still floats, %s', async (_, action, price) => {
    relay.clock.advance(1_000);
    lagPositions();
    expect(await relay.sendUnder(careful, { ...buy, action, quantity: '0.03' })).toEqual(placed);
    relay.clock.advance(1_000);
    await closeByHand('0.01', action === 'buy' ? 'sell' : 'buy');
    relay.setPrice(price);
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, next)).toMatchObject({ rule: 'max_daily_loss' });
  });
});

describe('While the list of positions still shows what known deals have closed, their loss counts', () => {
  const careful = settingsWith({ maxDailyLoss: '15' });
  const buy = { action: 'buy', quantity: '0.02', maxSlippage: '5%' };
  const next = { ...buy, quantity: '0.001' };

  test('although the price has come back', async () => {
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('48900');
    lagPositions();
    expect(await relay.sendUnder(careful, { action: 'close', ...bare, maxSlippage: '1%' })).toEqual(placed);
    relay.setPrice('50000');
    relay.clock.advance(1_000);
    await relay.follow();

    expect(await relay.sendUnder(careful, next)).toMatchObject({ rule: 'limit_not_known' });
    relay.clock.advance(10_000);
    expect(await relay.sendUnder(careful, next)).toMatchObject({ rule: 'max_daily_loss' });
  });

  test('in hedge mode, beside a position of the other side', async () => {
    relay.paper.control.setHedgeMode('main', true);
    const { positionSide: _, ...other } = perp;
    expect(await relay.sendUnder(careful, { ...perp, action: 'buy' }, 'BTC_PERP')).toEqual(placed);
    const short = { ...other, action: 'sell', positionSide: 'SHORT' };
    expect(await relay.sendUnder(careful, short, 'BTC_PERP')).toEqual(placed);
    await goOn(20_000);
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('48500'));
    const client = await relay.services.exchangeFor('main');
    const order = { market: 'BTC_PERP', amount: parseDecimal('0.015'), clientOrderId: '' } as const;
    await client.call(marketEndpoint, { ...order, side: 'sell', positionSide: 'LONG' });
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, next)).toMatchObject({ status: 'denied' });
    relay.clock.advance(10_000);
    expect(await relay.sendUnder(careful, next)).toMatchObject({ rule: 'max_daily_loss' });
  });

  test('and no gain of what was added to a position is lost', async () => {
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('52000');
    lagPositions();
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    relay.setPrice('51500');
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, next)).toEqual(placed);
  });
});

describe('A stop-loss that has visibly closed a position', () => {
  const careful = settingsWith({ maxDailyLoss: '15' });
  const cooling = settingsWith({ coolDownAfterLoss: 30 });
  const buy = { action: 'buy', quantity: '0.02' };
  const guarded = { ...buy, stopLoss: '49000', maxSlippage: '5%' };
  const unknown = { status: 'denied', rule: 'limit_not_known' };

  /** The account is read while it holds nothing. */
  beforeEach(async () => {
    expect(
      await relay.sendUnder(careful, {
        ...buy,
        orderType: 'limit',
        maxSlippage: undefined,
        limitPrice: '40000',
      }),
    ).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('50000');
  });

  test.each([
    ['maxDailyLoss', careful, 'max_daily_loss'],
    ['coolDownAfterLoss', cooling, 'cool_down_after_loss'],
  ])('counts for %s: nothing is opened before its deal is listed', async (_, settings, rule) => {
    expect(await relay.sendUnder(settings, guarded)).toEqual(placed);
    await goOn(20_000);
    lagDeals();
    relay.setPrice('49000');
    relay.clock.advance(2_000);
    await relay.follow();

    expect(await relay.sendUnder(settings, buy)).toMatchObject(unknown);
    expect(await relay.sendUnder(settings, { ...buy, ticker: 'BTCUSDT.P' }, 'BTC_PERP')).toMatchObject(
      unknown,
    );
    relay.clock.advance(9_000);
    expect(await relay.sendUnder(settings, buy)).toMatchObject({ rule });
  });

  test.each([
    ['maxDailyLoss', careful],
    ['coolDownAfterLoss', cooling],
  ])(
    'counts for %s when the positions are read again, of which none had been there before',
    async (_, settings) => {
      relay.clock.advance(2_000);
      expect(await relay.sendUnder(settings, guarded)).toEqual(placed);
      relay.clock.advance(20_000);
      await relay.follow();
      lagDeals();
      relay.setPrice('49000');
      relay.clock.advance(2_000);
      await goOn(1_000);

      expect(await relay.sendUnder(settings, buy)).toMatchObject(unknown);
      const client = await relay.services.exchangeFor('main');
      const account = settings.accounts['main'];
      if (account === undefined) throw new Error('there is no account');
      const report = await readLimitUse(relay.services, account, client, { timeoutMs: 2000 });
      expect(report.unknown).toEqual([
        'the position in BTC_USDT went from 0.02 to 0, and no deal is counted yet that says at which price',
      ]);
    },
  );

  test.each([
    ['maxDailyLoss', careful],
    ['coolDownAfterLoss', cooling],
  ])(
    'counts for %s right after the first start, before the positions were ever kept',
    async (_, settings) => {
      await relay.close();
      relay = await openLimitedRelay();
      expect(await relay.sendUnder(settings, guarded)).toEqual(placed);
      relay.clock.advance(13_000);
      await relay.follow();
      lagDeals();
      relay.setPrice('49000');
      relay.clock.advance(2_000);

      expect(await relay.sendUnder(settings, buy)).toMatchObject(unknown);
    },
  );

  test('counts when the deals could not be read while the positions were', async () => {
    expect(await relay.sendUnder(careful, guarded)).toEqual(placed);
    await goOn(20_000);
    relay.setPrice('49000');
    relay.clock.advance(2_000);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'executed-history', probability: 1 });
    await relay.reconcile();
    relay.paper.control.clearFaults();
    lagDeals();

    expect(await relay.sendUnder(careful, buy)).toMatchObject(unknown);
  });

  test('counts although an earlier sale of the same minute would explain it', async () => {
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    await goOn(20_000);
    await goOn(minuteMs);
    expect(await relay.sendUnder(careful, { action: 'close' })).toEqual(placed);
    relay.clock.advance(3_000);
    await relay.follow();
    expect(await relay.sendUnder(careful, guarded)).toEqual(placed);
    relay.clock.advance(20_000);
    await relay.follow();
    relay.clock.advance(29_000);
    lagDeals();
    relay.setPrice('49000');
    await goOn(2_000);

    expect(await relay.sendUnder(careful, buy)).toMatchObject(unknown);
  });

  test('is forgotten after three minutes when no deal ever says at which price', async () => {
    expect(await relay.sendUnder(careful, guarded)).toEqual(placed);
    await goOn(20_000);
    lagDeals();
    relay.setPrice('49000');
    await goOn(2_000);
    relay.paper.control.clearFaults();
    lagDeals(10 * minuteMs);
    const rules: (string | undefined)[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      await goOn(minuteMs);
      const sent = await relay.sendUnder(
        careful,
        { ...buy, ticker: 'BTCUSDT.P', quantity: '0.001' },
        'BTC_PERP',
      );
      rules.push((sent as { readonly rule?: string }).rule);
    }

    expect(rules).toEqual(['limit_not_known', 'limit_not_known', undefined, undefined, undefined]);
  });

  test('counts, too, when it was opened since the positions were last read', async () => {
    relay.clock.advance(2_000);
    expect(await relay.sendUnder(careful, guarded)).toEqual(placed);
    relay.clock.advance(20_000);
    await relay.follow();
    lagDeals();
    relay.setPrice('49000');
    relay.clock.advance(2_000);

    expect(await relay.sendUnder(careful, buy)).toMatchObject(unknown);
    await goOn(1_000);
    expect(await relay.sendUnder(careful, buy)).toMatchObject(unknown);
    relay.clock.advance(9_000);
    expect(await relay.sendUnder(careful, buy)).toMatchObject({ rule: 'max_daily_loss' });
    expect(relay.alarms.filter(({ name }) => name === 'position_reduced')).toEqual([]);
  });

  test('is not what a list shows that is older than the last reading', async () => {
    relay.clock.advance(2_000);
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    await goOn(1_000);
    lagPositions();
    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
    relay.paper.control.clearFaults();
    relay.clock.advance(20_000);

    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
    for (let minute = 0; minute < 4; minute += 1) await goOn(minuteMs);
    expect(relay.alarms).toEqual([]);
  });

  test('is not what the relay sees on a clock that is ahead, and nothing of it is told later', async () => {
    const { clock } = relay;
    Object.assign(relay.services, {
      clock: override<typeof clock>(clock, { nowMs: () => clock.nowMs() + 9_000 }),
    });
    await goOn(minuteMs);
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    relay.clock.advance(2_000);
    lagPositions();
    await goOn(1_000);
    relay.paper.control.clearFaults();
    await goOn(minuteMs);

    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
    for (let minute = 0; minute < 4; minute += 1) await goOn(minuteMs);
    expect(relay.alarms).toEqual([]);
  });

  test('stops no reduction', async () => {
    expect(await relay.sendUnder(careful, guarded)).toEqual(placed);
    await goOn(20_000);
    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
    lagDeals();
    relay.setPrice('49000');
    relay.clock.advance(2_000);

    expect(await relay.sendUnder(careful, { action: 'sell', quantity: '0.01', reduceOnly: true })).toEqual(
      placed,
    );
  });
});

describe('What a deal by hand has changed elsewhere reduces no position', () => {
  const careful = settingsWith({ maxDailyLoss: '1500' });

  /** Entries of four minutes. */
  async function sendLater(fields: object): Promise<void> {
    relay.clock.advance(12_000);
    for (let minute = 0; minute < 4; minute += 1) {
      expect(await relay.sendUnder(careful, fields, 'BTC_PERP')).toEqual(placed);
      await goOn(minuteMs);
    }
    expect(relay.alarms.filter(({ name }) => name === 'position_reduced')).toEqual([]);
  }

  async function hold(fields: object, market?: string): Promise<ExchangeClient> {
    expect(await relay.sendUnder(careful, { quantity: '0.02', ...fields }, market)).toEqual(placed);
    for (let minute = 0; minute < 2; minute += 1) await goOn(minuteMs);
    return await relay.services.exchangeFor('main');
  }

  test('on the spot account, in the same market', async () => {
    const client = await hold({ action: 'buy' });
    const order = {
      market: 'BTC_USDT',
      side: 'buy',
      amount: parseDecimal('0.01'),
      clientOrderId: '',
    } as const;
    await client.call(spotStockMarket, order);

    await sendLater({ ...perp, positionSide: undefined, action: 'buy', quantity: '0.001' });
  });

  test('on the spot account, after a sale by hand of the position itself', async () => {
    const client = await hold({ action: 'buy' });
    const order = { market: 'BTC_USDT', amount: parseDecimal('0.02'), clientOrderId: '' } as const;
    await client.call(marketEndpoint, { ...order, side: 'sell' });
    relay.clock.advance(1_000);
    await client.call(spotStockMarket, { ...order, side: 'buy', amount: parseDecimal('0.01') });

    await sendLater({ ...perp, positionSide: undefined, action: 'buy', quantity: '0.001' });
  });

  test('on its own side of hedge mode, where it was enlarged and then closed', async () => {
    relay.paper.control.setHedgeMode('main', true);
    await hold({ ...perp, action: 'buy' }, 'BTC_PERP');
    const client = await hold({ ...perp, action: 'sell', positionSide: 'SHORT' }, 'BTC_PERP');
    const order = { market: 'BTC_PERP', clientOrderId: '', positionSide: 'LONG' } as const;
    await client.call(marketEndpoint, { ...order, side: 'buy', amount: parseDecimal('0.01') });
    relay.clock.advance(1_000);
    await client.call(marketEndpoint, { ...order, side: 'sell', amount: parseDecimal('0.03') });

    await sendLater({ ...perp, action: 'buy', quantity: '0.001' });
  });

  test('on the other side of hedge mode', async () => {
    relay.paper.control.setHedgeMode('main', true);
    const client = await hold({ ...perp, action: 'sell', positionSide: 'SHORT' }, 'BTC_PERP');
    const order = {
      market: 'BTC_PERP',
      side: 'buy',
      amount: parseDecimal('0.05'),
      clientOrderId: '',
    } as const;
    await client.call(marketEndpoint, { ...order, positionSide: 'LONG' });

    await sendLater({ ...perp, action: 'buy', quantity: '0.001' });
  });
});

test('What the relay itself has closed is explained by the response to its order', async () => {
  const careful = settingsWith({ maxDailyLoss: '15' });
  const buy = { action: 'buy', quantity: '0.02' };
  expect(await relay.sendUnder(careful, buy)).toEqual(placed);
  for (let time = 0; time < 2; time += 1) await goOn(20_000);
  lagDeals();

  expect(await relay.sendUnder(careful, { action: 'close' })).toEqual(placed);
  relay.clock.advance(2_000);
  expect(await relay.sendUnder(careful, buy)).toEqual(placed);
  relay.clock.advance(12_000);
  expect(await relay.sendUnder(careful, { action: 'sell', quantity: '0.02' })).toEqual(placed);
  expect(await relay.sendUnder(careful, buy)).toEqual(placed);
});

describe('An order that rests', () => {
  test.each([
    ['a position', most, { rule: 'max_position', actual: '0.04' }],
    ['the open notional', settingsWith({ maxOpenNotional: '2300' }), { rule: 'max_open_notional' }],
  ])('counts against %s before any list shows it', async (_, settings, denial) => {
    await relay.sendUnder(free, { action: 'buy', quantity: '0.02' });
    relay.clock.advance(20_000);
    lagOrders();

    expect(await relay.sendUnder(settings, { action: 'sell', quantity: '0.02', ...above })).toEqual(placed);
    expect(await relay.sendUnder(settings, { action: 'sell', quantity: '0.02', ...above })).toMatchObject(
      denial,
    );
  });

  test('is no reduction while something else may close the position before it', async () => {
    await relay.sendUnder(free, { action: 'buy', quantity: '0.02', stopLoss: '49000' });
    relay.clock.advance(20_000);
    await relay.follow();

    expect(await relay.sendUnder(closed, { action: 'sell', quantity: '0.02', ...above })).toMatchObject({
      rule: 'trading_windows',
    });
    expect(
      await relay.sendUnder(closed, { action: 'sell', quantity: '0.02', reduceOnly: true, ...above }),
    ).toEqual(placed);
  });

  test('stops no reduction, listed or not, cancelled or not', async () => {
    await relay.sendUnder(free, { action: 'buy', quantity: '0.04' });
    relay.clock.advance(20_000);
    lagOrders();

    expect(await relay.sendUnder(free, { action: 'sell', quantity: '0.04', ...above })).toEqual(placed);
    expect(await relay.sendUnder(closed, { action: 'sell', quantity: '0.02' })).toEqual(placed);
    relay.paper.control.clearFaults();
    relay.clock.advance(5_000);
    expect(await relay.sendUnder(closed, { action: 'cancel_all', ...bare })).toMatchObject({
      status: 'cancelled',
    });
    relay.clock.advance(longestPositionLagMs);
    expect(await relay.sendUnder(closed, { action: 'sell', quantity: '0.02' })).toEqual(placed);
  });

  test('counts no more once the relay has cancelled it', async () => {
    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.02', ...below })).toEqual(placed);
    relay.clock.advance(5_000);
    expect(await relay.sendUnder(most, { action: 'cancel_all', ...bare })).toMatchObject({
      status: 'cancelled',
    });

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.02' })).toEqual(placed);
  });
});

describe('An order whose rest was gone when it was to be cancelled may have filled whole', () => {
  beforeEach(async () => {
    relay.paper.control.addFault({ fault: 'refuse_ioc', endpoint: 'limit', probability: 1 });
    const client = await relay.services.exchangeFor('main');
    const touched = override(client, {
      prepare(endpoint, params) {
        if (endpoint.name === 'cancel-order') relay.setPrice('49900');
        return client.prepare(endpoint, params);
      },
    });
    relay.clock.advance(20_000);
    Object.assign(relay.services, { exchangeFor: async () => touched });
    const order = { action: 'buy', quantity: '0.02', ...limit, limitPrice: '49900', ioc: true };
    expect(await relay.sendUnder(free, order)).toEqual(placed);
    relay.clock.advance(1_000);
    lagPositions();
    lagOrders();
  });

  test.each([
    ['a position', most, { rule: 'max_position', actual: '0.04' }],
    ['the open notional', settingsWith({ maxOpenNotional: '1500' }), { rule: 'max_open_notional' }],
  ])('which counts against %s', async (_, settings, denial) => {
    expect(await relay.sendUnder(settings, { action: 'buy', quantity: '0.02' })).toMatchObject(denial);
  });

  test('for which a target waits', async () => {
    await relay.sendUnder(free, { target: '0.02', orderType: undefined }).catch(() => undefined);

    expect(await relay.held()).toEqual(['0.02']);
  });
});

test('a fill counts once although the list of the account is older than it', async () => {
  const four = settingsWith({}, { maxPosition: '0.04' });
  await relay.sendUnder(free, { action: 'buy', quantity: '0.02' });
  const { ledger } = relay.services;
  const before = await ledger.list({ account: 'main', limit: 25 });
  relay.clock.advance(2000);
  await relay.follow();
  Object.assign(relay.services, { ledger: override(ledger, { list: async () => before }) });
  lagPositions();

  expect(await relay.sendUnder(four, { action: 'buy', quantity: '0.02' })).toEqual(placed);
});

test('a loss counts whose position was opened in the same millisecond, by a fill that no list shows yet', async () => {
  const cooling = settingsWith({ coolDownAfterLoss: 30 });
  relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
  relay.paper.control.setHedgeMode('main', true);
  expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.01' })).toEqual(placed);
  await goOn(20_000);
  lagDeals();
  lagPositions();
  expect(await relay.sendUnder(cooling, { ...perp, action: 'buy' }, 'BTC_PERP')).toEqual(placed);
  await relay.services.executions.recordOthers([
    {
      ...{ account: 'main', market: 'BTC_PERP', dealId: 99, orderId: 99, signalId: '', role: 'other' },
      ...{ side: 'sell', liquidity: 'taker', amount: '0.01', price: '49000', notional: '490' },
      ...{ fee: '0', feeAsset: 'USDT', atMs: relay.clock.nowMs() },
    },
  ]);

  expect(await relay.sendUnder(cooling, { ...perp, action: 'buy' }, 'BTC_PERP')).toMatchObject({
    rule: 'cool_down_after_loss',
  });
});

describe('Nothing is counted of', () => {
  test.each([
    ['maxPosition', most],
    ['maxOpenNotional', settingsWith({ maxOpenNotional: '1500' })],
  ])('an entry that the relay has closed since (%s)', async (_, settings) => {
    const actions = [{ target: '0.02' }, { action: 'flat' }, { target: '0.02' }, { target: '-0.02' }];
    for (const action of actions) {
      const legs = await relay.sendUnder(settings, { ...action, orderType: undefined });
      relay.clock.advance(4_000);
      expect(legs).toMatchObject({ status: 'placed' });
    }
    expect(await relay.held()).toEqual(['-0.02']);
  });

  test('an order that has ended without a fill', async () => {
    const ended = { ...limit, ioc: true, limitPrice: '40000' };
    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.02', ...ended })).toEqual(placed);

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.02' })).toEqual(placed);
  });

  test('the exits of an entry that was not followed yet', async () => {
    const settings = settingsWith({ maxOpenNotional: '2000' });
    await relay.sendUnder(settings, { action: 'buy', quantity: '0.01', stopLoss: '2%', takeProfit: '4%' });
    relay.clock.advance(1000);

    expect(await relay.sendUnder(settings, { action: 'buy', quantity: '0.02' })).toEqual(placed);
  });

  test('a close in hedge mode that says so by its side alone', async () => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    relay.paper.control.setHedgeMode('main', true);
    const settings = settingsWith({ maxOpenNotional: '1100' });
    expect(await relay.sendUnder(settings, { ...perp, action: 'buy' }, 'BTC_PERP')).toEqual(placed);
    relay.clock.advance(11_000);
    expect(await relay.sendUnder(settings, { ...perp, action: 'sell' }, 'BTC_PERP')).toEqual(placed);
    relay.clock.advance(1000);

    expect(await relay.sendUnder(settings, { ...perp, action: 'buy' }, 'BTC_PERP')).toEqual(placed);
  });

  test.each([
    ['has filled', {}],
    ['rests', above],
  ])('a sell on spot that %s', async (_, kind) => {
    const settings = settingsWith({ maxOpenNotional: '1000' }, { tradesOn: 'spot' });
    expect(await relay.sendUnder(settings, { action: 'sell', quantity: '0.01', ...kind })).toEqual(placed);
    relay.clock.advance(1000);

    expect(await relay.sendUnder(settings, { action: 'buy', quantity: '0.015' })).toEqual(placed);
  });

  test('a closing order of unknown size, but no position that it may have closed', async () => {
    await relay.sendUnder(free, { action: 'sell', quantity: '0.02' });
    relay.clock.advance(longestPositionLagMs + 1);
    const close = { action: 'buy', quoteQuantity: '900', reduceOnly: true, limitPrice: '49000' };
    await relay.beginAsBefore(close);

    expect(await relay.sendUnder(most, { action: 'buy', quantity: '0.04' })).toMatchObject({
      actual: '0.04',
    });
    expect(
      await relay.sendUnder(settingsWith({ maxOpenNotional: '2200' }), { action: 'sell', quantity: '0.01' }),
    ).toEqual(placed);
  });
});

test('a stop-market buy on spot counts in the quote currency', async () => {
  const settings = settingsWith({ maxOpenNotional: '300', allowUnguardedMarket: true }, { tradesOn: 'spot' });
  const stop = { orderType: 'stop_market', maxSlippage: undefined, stopPrice: '51000', quoteQuantity: '100' };
  expect(await relay.sendUnder(settings, { action: 'buy', ...stop })).toEqual(placed);
  relay.clock.advance(1000);

  expect(await relay.sendUnder(settings, { action: 'buy', quoteQuantity: '150', ...below })).toEqual(placed);
  expect(await relay.sendUnder(settings, { action: 'buy', quoteQuantity: '100', ...below })).toMatchObject({
    rule: 'max_open_notional',
  });
});

test('a position without a known value may be reduced, and nothing may be opened', async () => {
  await relay.sendUnder(free, { action: 'buy', quantity: '0.02' });
  relay.clock.advance(20_000);
  await changePositions(relay, (positions) =>
    positions.map((position) => ({ ...position, basePrice: null })),
  );
  const settings = settingsWith({ maxOpenNotional: '5000' });

  expect(await relay.sendUnder(settings, { action: 'sell', quantity: '0.01' })).toEqual(placed);
  expect(await relay.sendUnder(settings, { action: 'buy', quantity: '0.01' })).toMatchObject({
    rule: 'limit_not_known',
  });
});

test('a loss counts although the clock is set back behind it', async () => {
  await relay.sendUnder(free, { action: 'buy', quantity: '0.02' });
  relay.setPrice('49000');
  relay.clock.advance(20_000);
  await relay.sendUnder(free, { action: 'close', orderType: undefined });
  relay.clock.advance(11_000);
  await relay.follow();
  relay.clock.advance(-120 * minuteMs);

  expect(
    await relay.sendUnder(settingsWith({ coolDownAfterLoss: 30 }), { action: 'buy', quantity: '0.01' }),
  ).toMatchObject({ rule: 'cool_down_after_loss' });
  expect(
    await relay.sendUnder(settingsWith({ maxDailyLoss: '5' }), { action: 'buy', quantity: '0.01' }),
  ).toMatchObject({ rule: 'max_daily_loss' });
});

test('A reversal counts on the position that it was planned on, although the list of the limits lags behind', async () => {
  let reads = 0;
  const lagging = await openAftermath(
    'live',
    (_, path) => {
      if (path !== '/api/v4/collateral-account/positions/open') return;
      reads += 1;
      // The first reading is the plan's.
      if (reads === 2) lagging.paper.control.addFault(lag);
    },
    undefined,
    settingsWith({}, { maxPosition: '0.02' }),
  );
  const lag = { fault: 'read_lag', endpoint: 'open-positions', delayMs: 8_000, probability: 1 } as const;
  const client = await lagging.services.exchangeFor('main');
  const byHand = { market: 'BTC_USDT', amount: parseDecimal('0.05'), clientOrderId: '' };
  await client.call(marketEndpoint, { ...byHand, side: 'buy' });
  lagging.clock.advance(minuteMs);
  await lagging.receiveAll(
    JSON.stringify({
      ticker: 'BTCUSDT',
      id: 'r',
      action: 'reverse',
      orderType: 'market',
      maxSlippage: '0.5%',
    }),
  );
  await client.call(marketEndpoint, { ...byHand, side: 'sell' });
  lagging.clock.advance(1000);
  lagging.paper.control.addFault(lag);
  await lagging.execute('r:reduce');
  expect((await lagging.entry('r:reduce')).status).toBe('rejected');
  lagging.paper.control.clearFaults();
  reads = 0;

  await lagging.execute('r');

  const { status, steps } = await lagging.entry('r');
  expect([status, reads]).toEqual(['denied', 2]);
  expect(steps.at(-1)?.note).toContain('0.02 is allowed');
  await lagging.close();
});

test('A loss that a close of unknown outcome may have made opens nothing until lists must show it', async () => {
  const cooling = settingsWith({ coolDownAfterLoss: 60 });
  expect(await relay.sendUnder(cooling, { action: 'buy', quantity: '0.02' })).toEqual(placed);
  await goOn(minuteMs);
  lagDeals(30_000);
  lagPositions();
  relay.setPrice('49500');
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', count: 1 });
  expect(await relay.sendUnder(cooling, { action: 'close' })).toMatchObject({ status: 'unknown' });
  relay.clock.advance(2000);

  const next = await relay.sendUnder(cooling, { action: 'buy', quantity: '0.01' });

  expect(next).toMatchObject({ status: 'denied', rule: 'limit_not_known' });
});
