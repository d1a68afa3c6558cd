import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readStoredFills } from '../../lib/account/day-profit.ts';
import { readLimitUse } from '../../lib/account/limit-use.ts';
import { findUncounted, listEndedLately } from '../../lib/account/uncounted.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { market as marketEndpoint } from '../../lib/exchange/endpoints/market.ts';
import type { Order } from '../../lib/model/order.ts';
import { minuteMs } from '../support/aftermath.ts';
import { type LimitedRelay, openLimitedRelay, settingsWith } from '../support/limited-relay.ts';

let relay: LimitedRelay;

beforeEach(async () => {
  relay = await openLimitedRelay();
});
afterEach(() => relay.close());

const placed = { status: 'placed' };
const limit = { orderType: 'limit', maxSlippage: undefined };

const lag = (endpoint: string, delayMs: number) =>
  relay.paper.control.addFault({ fault: 'read_lag', endpoint, delayMs, probability: 1 });

const setPrice = (price: string, amount?: string, market = 'BTC_USDT') =>
  relay.paper.control.setPrice(
    market,
    parseDecimal(price),
    amount === undefined ? undefined : parseDecimal(amount),
  );

/** As time goes on in a relay: the minute's watch, and the follower. */
async function goOn(ms: number): Promise<void> {
  relay.clock.advance(ms);
  await relay.reconcile();
  await relay.follow();
}

/** An order by hand. */
async function trade(side: 'buy' | 'sell', market = 'BTC_USDT', amount = '0.02'): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  await client.call(marketEndpoint, { market, side, amount: parseDecimal(amount), clientOrderId: '' });
}

/** An order by hand that rests. */
async function rest(
  side: 'buy' | 'sell',
  price: string,
  market = 'BTC_USDT',
  amount = '0.02',
): Promise<Order> {
  const client = await relay.services.exchangeFor('main');
  const order = { market, side, amount: parseDecimal(amount), price: parseDecimal(price) };
  return await client.call(limitEndpoint, { ...order, clientOrderId: '' });
}

describe('An order that has filled, and of which no deal is listed yet, counts where no position shows it:', () => {
  const careful = settingsWith({ maxDailyLoss: '15' });
  const cooling = settingsWith({ coolDownAfterLoss: 30 });
  const buy = { action: 'buy', quantity: '0.02', maxSlippage: '5%' };
  const guarded = { ...buy, stopLoss: '49000' };
  const unknown = { status: 'denied', rule: 'limit_not_known' };
  const limits: readonly [string, typeof careful, string][] = [
    ['maxDailyLoss', careful, 'max_daily_loss'],
    ['coolDownAfterLoss', cooling, 'cool_down_after_loss'],
  ];

  /** The account is read while it holds nothing. */
  beforeEach(async () => {
    expect(await relay.sendUnder(careful, { ...buy, ...limit, limitPrice: '40000' })).toEqual(placed);
    await goOn(20_000);
  });

  /** Only the lists of deals lag. */
  function lagDealsAlone(delayMs = 9_000): void {
    lag('executed-history', delayMs);
    lag('order-deals', delayMs);
  }

  /** Denied until the deal is listed, and by the limit from then on. */
  async function expectCounted(settings: typeof careful, rule: string): Promise<void> {
    expect(await relay.sendUnder(settings, buy)).toMatchObject(unknown);
    relay.clock.advance(9_000);
    expect(await relay.sendUnder(settings, buy)).toMatchObject({ rule });
  }

  test.each(limits)('for %s, the stop-loss of a position of some seconds', async (_, settings, rule) => {
    expect(await relay.sendUnder(settings, guarded)).toEqual(placed);
    lagDealsAlone();
    relay.clock.advance(2_000);
    relay.setPrice('49000');
    relay.clock.advance(2_000);

    await expectCounted(settings, rule);
  });

  test.each(limits)(
    'for %s, a resting entry and its stop-loss, both of this minute',
    async (_, settings, rule) => {
      expect(await relay.sendUnder(settings, { ...guarded, ...limit, limitPrice: '49800' })).toEqual(placed);
      await goOn(20_000);
      lagDealsAlone();
      relay.setPrice('49800');
      relay.clock.advance(1_000);
      relay.setPrice('49000');
      relay.clock.advance(2_000);

      await expectCounted(settings, rule);
    },
  );

  test.each(limits)(
    'for %s, a position that was closed and opened again by hand',
    async (_, settings, rule) => {
      expect(await relay.sendUnder(settings, buy)).toEqual(placed);
      await goOn(20_000);
      lagDealsAlone();
      relay.setPrice('49000');
      await trade('sell');
      await trade('buy');
      relay.clock.advance(1_000);

      await expectCounted(settings, rule);
    },
  );

  test.each(limits)('for %s, a loss by hand in another market', async (_, settings, rule) => {
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('50000'));
    lagDealsAlone();
    await trade('buy', 'BTC_PERP');
    relay.paper.control.setPrice('BTC_PERP', parseDecimal('49000'));
    await trade('sell', 'BTC_PERP');
    relay.clock.advance(1_000);

    await expectCounted(settings, rule);
  });

  test.each([
    ['just now', 0],
    ['five minutes ago', 5],
  ])('for coolDownAfterLoss, an order by hand of %s that has filled in part', async (_, minutes) => {
    expect(await relay.sendUnder(cooling, buy)).toEqual(placed);
    relay.setPrice('49000');
    await rest('sell', '49100');
    for (let minute = 0; minute < minutes; minute += 1) await goOn(minuteMs);
    relay.clock.advance(2_000);
    lag('open-positions', 4_000);
    lagDealsAlone();
    setPrice('49100', '0.018');
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(cooling, buy)).toMatchObject(unknown);
  });

  test.each(limits)('for %s, an order in another market that has filled in part', async (_, settings) => {
    setPrice('50000', undefined, 'BTC_PERP');
    await trade('buy', 'BTC_PERP');
    await goOn(30_000);
    setPrice('49000', undefined, 'BTC_PERP');
    await rest('sell', '49100', 'BTC_PERP');
    relay.clock.advance(2_000);
    lag('open-positions', 4_000);
    lagDealsAlone();
    setPrice('49100', '0.018', 'BTC_PERP');
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(settings, { ...buy, quantity: '0.001' })).toMatchObject(unknown);
  });

  test('also where a list has shown it that was read for a deal by hand', async () => {
    expect(await relay.sendUnder(cooling, guarded)).toEqual(placed);
    await trade('buy', 'BTC_USDT', '0.0002');
    relay.clock.advance(10_000);
    relay.setPrice('49000');
    relay.clock.advance(2_000);
    lagDealsAlone();
    lag('open-positions', 5_000);
    // The first reading shows neither order as ended, and the next one both.
    const first = { fault: 'read_lag', endpoint: 'ended-order', delayMs: 30_000, count: 1 } as const;
    relay.paper.control.addFault(first);

    expect(await relay.sendUnder(cooling, buy)).toMatchObject(unknown);
  });

  test('after which a hundred others have ended', async () => {
    lagDealsAlone(minuteMs);
    setPrice('50000', undefined, 'BTC_PERP');
    await trade('buy', 'BTC_PERP');
    setPrice('49000', undefined, 'BTC_PERP');
    await trade('sell', 'BTC_PERP');
    const client = await relay.services.exchangeFor('main');
    for (let count = 0; count < 101; count += 1) {
      const { orderId } = await rest('buy', '30000', 'BTC_USDT', '0.001');
      await client.call(cancelOrder, { market: 'BTC_USDT', orderId });
      relay.clock.advance(100);
    }

    expect(await relay.sendUnder(cooling, { ...buy, quantity: '0.001' })).toMatchObject(unknown);
  });

  test('and is said by the report of the limits', async () => {
    lagDealsAlone();
    await trade('buy', 'BTC_PERP');
    const client = await relay.services.exchangeFor('main');
    const account = careful.accounts['main'];
    if (account === undefined) throw new Error('there is no account');
    const report = await readLimitUse(relay.services, account, client, { timeoutMs: 2000 });

    expect(report.unknown).toEqual([
      expect.stringMatching(/^order \d+ in BTC_PERP has filled 0.02, and deals of 0 are counted yet$/),
    ]);
  });

  test('until three minutes have passed', async () => {
    lagDealsAlone(10 * minuteMs);
    await trade('buy', 'BTC_PERP', '0.001');
    for (const waitMs of [0, 179_000]) {
      relay.clock.advance(waitMs);
      expect(await relay.sendUnder(careful, buy)).toMatchObject(unknown);
    }
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, buy)).toEqual(placed);
  });

  test.each([
    ['behind', 9_000],
    ['ahead of', -9_000],
  ])('on a clock that is %s the exchange’s, too', async (_, aheadMs) => {
    const client = await relay.services.exchangeFor('main');
    await trade('buy', 'BTC_PERP');
    const ended = await listEndedLately({ client, options: { timeoutMs: 2000 } }, relay.clock.nowMs());
    const account = careful.accounts['main'];
    if (account === undefined) throw new Error('there is no account');
    const day = await readStoredFills(relay.services, account);
    if (day === null) throw new Error('the account was never read');
    const atMs = Math.max(...ended.map(({ endedAtMs }) => endedAtMs));

    expect(findUncounted({ ...day, readAtMs: atMs - aheadMs }, { ended, open: [] })).toMatchObject([
      { market: 'BTC_PERP' },
    ]);
  });

  test('not what the account had dealt before it was first read', async () => {
    await relay.close();
    relay = await openLimitedRelay();
    await trade('buy', 'BTC_PERP', '0.001');
    relay.clock.advance(1_000);
    lagDealsAlone();

    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
  });

  test('not what is listed of an own order that was followed before the rest of it filled', async () => {
    setPrice('50500');
    expect(await relay.sendUnder(careful, { ...buy, ...limit, limitPrice: '50000' })).toEqual(placed);
    relay.clock.advance(5_000);
    setPrice('50000', '0.005');
    relay.clock.advance(5_000);
    await relay.follow();
    relay.clock.advance(12_000);
    setPrice('50000');
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
  });

  test('but what is listed of such an order is a loss as any other', async () => {
    expect(await relay.sendUnder(cooling, { ...buy, stopLoss: '49000', takeProfit: '60000' })).toEqual(
      placed,
    );
    await goOn(20_000);
    setPrice('49000', '0.005');
    relay.clock.advance(5_000);
    await relay.follow();
    setPrice('49000');
    // What the relay wants to change about its protection waits for a list of positions that shows the fill.
    relay.clock.advance(12_000);

    expect(await relay.sendUnder(cooling, buy)).toMatchObject({ rule: 'cool_down_after_loss' });
  });

  test('not what the response to an order has told', async () => {
    lagDealsAlone();
    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
    relay.clock.advance(1_000);

    expect(await relay.sendUnder(careful, { ...buy, quantity: '0.001' })).toEqual(placed);
  });
});
