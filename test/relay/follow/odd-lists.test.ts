import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import { cancelOrder } from '../../../lib/exchange/endpoints/cancel-order.ts';
import type { FaultRequest } from '../../../lib/paper/faults/faults.ts';
import { createFollower } from '../../../lib/relay/follow/follow-orders.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../../support/aftermath.ts';
import { buyAlert } from '../../support/alerts.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const limitAlert = (changes: Record<string, unknown> = {}) =>
  buyAlert({
    orderType: 'limit',
    stopPrice: undefined,
    limitPrice: '49500',
    stopLoss: undefined,
    takeProfit: undefined,
    ...changes,
  });

const always = (fault: FaultRequest['fault'], endpoint?: string) =>
  relay.paper.control.addFault({
    fault,
    probability: 1,
    ...(endpoint === undefined ? {} : { endpoint }),
  });

const alarmNames = () => relay.alarms.map(({ name }) => name);

/** Follows as a process that has just begun. */
const followAnew = () => createFollower(relay.services).run(Number.POSITIVE_INFINITY);

async function cancelByHand(signalId = 'buy-1'): Promise<void> {
  const { orderId } = await relay.entry(signalId);
  const client = await relay.services.exchangeFor('main');
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId: orderId ?? 0 });
}

async function followFor(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    relay.clock.advance(minuteMs);
    await relay.follow();
  }
}

async function storedFills() {
  const { fills } = await relay.services.executions.listFills({
    account: 'main',
    fromMs: 0,
    untilMs: Number.MAX_SAFE_INTEGER / 8,
    limit: 100,
  });
  return fills;
}

describe('an end whose word nobody knows', () => {
  test('ends the order, with the word as the reason', async () => {
    await relay.send(limitAlert());
    await cancelByHand();
    always('unknown_word', 'ended-order');

    await relay.follow();

    expect(await relay.entry('buy-1')).toMatchObject({
      orderOpen: false,
      execution: {
        isFollowed: false,
        orders: [{ status: 'cancelled', endReason: 'UNDOCUMENTED', endedAtMs: noonMs, filled: '0' }],
      },
    });
  });

  test('does not hide how other orders ended', async () => {
    await relay.send(limitAlert({ id: 'one' }));
    await relay.send(limitAlert({ id: 'two', limitPrice: '49000' }));
    relay.setPrice('49500');
    always('unknown_word');

    await relay.follow();

    expect(await relay.entry('one')).toMatchObject({
      execution: { orders: [{ status: 'filled', filled: '0.01', fees: { USDT: '0.495' } }] },
    });
    expect(await relay.entry('two')).toMatchObject({
      orderOpen: true,
      execution: { orders: [{ status: 'open' }] },
    });
    expect(await storedFills()).toMatchObject([{ liquidity: '9' }]);
  });

  test('raises one alarm for each word and account, also after a restart', async () => {
    await relay.send(limitAlert({ id: 'one' }));
    await relay.send(limitAlert({ id: 'two' }));
    always('unknown_word', 'open-order');

    await relay.follow();
    await relay.follow();
    relay.clock.advance(48 * 60 * minuteMs);
    await followAnew();

    expect(relay.alarms).toEqual([
      {
        name: 'unknown_word',
        account: 'main',
        list: 'open-order',
        market: 'BTC_USDT',
        field: 'status',
        word: 'UNDOCUMENTED',
      },
    ]);
  });
});

describe('a record that cannot be read', () => {
  test('does not hold back what the other records tell', async () => {
    await relay.send(limitAlert({ id: 'one' }));
    await relay.send(limitAlert({ id: 'two', limitPrice: '49000' }));
    relay.setPrice('49500');
    await relay.send(limitAlert({ id: 'three', limitPrice: '48000' }));
    always('unreadable_record', 'open-order');

    await relay.follow();

    expect(await relay.entry('one')).toMatchObject({ execution: { orders: [{ status: 'filled' }] } });
    expect(await relay.entry('two')).toMatchObject({ execution: { orders: [{ status: 'open' }] } });
    expect(await relay.entry('three')).toMatchObject({ orderOpen: true });
  });

  test.each(['open-order', 'ended-order'])(
    'of the list %s never makes an order gone, and its end is seen once it can be read',
    async (endpoint) => {
      await relay.send(limitAlert());
      if (endpoint === 'ended-order') await cancelByHand();
      always('unreadable_record', endpoint);

      await followFor(30);
      expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: true, execution: null });

      relay.paper.control.clearFaults();
      if (endpoint === 'open-order') await cancelByHand();
      await followFor(6);
      expect(await relay.entry('buy-1')).toMatchObject({
        execution: { isFollowed: false, orders: [{ status: 'cancelled' }] },
      });
    },
  );

  test('raises an alarm that comes again after a day', async () => {
    await relay.send(limitAlert());
    always('unreadable_record', 'open-order');

    await followFor(3);
    await followAnew();
    expect(relay.alarms).toEqual([
      {
        name: 'record_unreadable',
        account: 'main',
        list: 'open-order',
        market: 'BTC_USDT',
        issues: expect.stringContaining('orderId'),
      },
    ]);

    relay.clock.advance(24 * 60 * minuteMs);
    await followAnew();
    expect(alarmNames()).toEqual(['record_unreadable', 'record_unreadable']);
  });

  test('among the open orders leaves it open whether a stop-loss is missing', async () => {
    await relay.send(buyAlert({ takeProfit: undefined }));
    relay.setPrice('50150');
    always('unreadable_record', 'open-order');
    await relay.follow();

    await followFor(1);
    expect(alarmNames()).toEqual(['record_unreadable']);
    await followFor(1);
    expect(alarmNames()).toEqual(['record_unreadable', 'position_unprotected']);

    relay.paper.control.clearFaults();
    await followFor(1);
    expect((await relay.entry('buy-1')).execution?.orders.map(({ role }) => role)).toEqual([
      'order',
      'stop_loss',
    ]);
  });

  test('among the positions does not end the watch of a position, and raises the alarm of its stop-loss', async () => {
    await relay.send(buyAlert());
    relay.setPrice('50150');
    await relay.follow();
    const { execution } = await relay.entry('buy-1');
    const stopId = execution?.orders.find(({ role }) => role === 'stop_loss')?.orderId ?? 0;
    const client = await relay.services.exchangeFor('main');
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId: stopId });
    always('unreadable_record', 'open-positions');

    await followFor(20);

    expect(await relay.entry('buy-1')).toMatchObject({ execution: { isFollowed: true } });
    expect(relay.alarms.find(({ name }) => name === 'position_unprotected')).toMatchObject({
      isPositionRead: false,
    });
  });
});

describe('a deal that is listed under two ids', () => {
  test('is booked once, under its first id, with one alarm', async () => {
    await relay.send(limitAlert());
    relay.setPrice('49500');
    always('doubled_deals');

    await followFor(3);
    await followAnew();

    const { orderId, execution } = await relay.entry('buy-1');
    expect(execution).toMatchObject({
      isFollowed: false,
      orders: [{ status: 'filled', filled: '0.01', filledNotional: '495', fees: { USDT: '0.495' } }],
    });
    const fills = await storedFills();
    expect(fills).toMatchObject([{ amount: '0.01', dealId: expect.any(Number) }]);
    expect(relay.alarms).toEqual([
      {
        name: 'fills_contradicted',
        account: 'main',
        signalId: 'buy-1',
        market: 'BTC_USDT',
        orderId,
        counted: '0.01',
        notCounted: [(fills[0]?.dealId ?? 0) + 1_000_000_000_000],
      },
    ]);
  });

  test('is booked once while the order is open, and what fills later counts', async () => {
    await relay.send(limitAlert());
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.004'));
    always('doubled_deals');
    await followFor(2);
    expect(await relay.entry('buy-1')).toMatchObject({
      execution: { orders: [{ status: 'partially_filled', filled: '0.004' }] },
    });

    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.1'));
    await followAnew();
    await followAnew();

    expect(await relay.entry('buy-1')).toMatchObject({
      execution: { isFollowed: false, orders: [{ status: 'filled', filled: '0.01' }] },
    });
    expect((await storedFills()).map(({ amount }) => amount)).toEqual(['0.004', '0.006']);
  });

  test('does not raise the fills of an order that ended early', async () => {
    await relay.send(limitAlert());
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.004'));
    await cancelByHand();
    always('doubled_deals');

    await followFor(2);

    expect(await relay.entry('buy-1')).toMatchObject({
      execution: { isFollowed: false, orders: [{ status: 'cancelled', filled: '0.004' }] },
    });
    expect(await storedFills()).toHaveLength(1);
    expect(alarmNames()).toEqual(['fills_contradicted']);
  });

  test('keeps the id that was booked first', async () => {
    await relay.send(limitAlert());
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.004'));
    await relay.follow();
    const [booked] = await storedFills();
    always('doubled_deals');
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.1'));

    await followAnew();

    const fills = await storedFills();
    expect(fills.map(({ amount }) => amount)).toEqual(['0.004', '0.006']);
    expect(fills[0]?.dealId).toBe(booked?.dealId);
  });
});

test('an exit whose end could not be read is told later, although the other one has closed the position', async () => {
  await relay.send(
    buyAlert({
      orderType: 'market',
      stopPrice: undefined,
      limitPrice: undefined,
      maxSlippage: '0.5%',
      stopLoss: '49000',
      takeProfit: '52000',
    }),
  );
  relay.clock.advance(minuteMs);
  relay.setPrice('48900');
  relay.paper.control.addFault({ fault: 'unreadable_record', endpoint: 'ended-order', count: 1 });

  await relay.follow();
  await followFor(1);

  const { execution } = await relay.entry('buy-1');
  expect(execution?.orders.map(({ role, status }) => `${role} ${status}`)).toEqual([
    'order filled',
    'stop_loss filled',
    'take_profit cancelled',
  ]);
});
