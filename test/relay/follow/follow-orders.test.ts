import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../../lib/base/decimal.ts';
import { RelayError } from '../../../lib/base/errors.ts';
import type { SendOptions } from '../../../lib/exchange/client.ts';
import type { Endpoint } from '../../../lib/exchange/endpoint.ts';
import { cancelOrder } from '../../../lib/exchange/endpoints/cancel-order.ts';
import { executedHistory } from '../../../lib/exchange/endpoints/executed-history.ts';
import type { ListPage } from '../../../lib/exchange/listed.ts';
import { createFollower } from '../../../lib/relay/follow/follow-orders.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../../support/aftermath.ts';
import { buyAlert } from '../../support/alerts.ts';
import { override } from '../../support/override.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const timePath = '/api/v4/public/time';
const ordersPath = '/api/v4/orders';
const historyPath = '/api/v4/trade-account/order/history';
const positionsPath = '/api/v4/collateral-account/positions/open';
const dealsPath = '/api/v4/trade-account/executed-history';
const orderDealsPath = '/api/v4/trade-account/order';

const limitAlert = (changes: Record<string, unknown> = {}) =>
  buyAlert({
    orderType: 'limit',
    stopPrice: undefined,
    limitPrice: '49500',
    stopLoss: undefined,
    takeProfit: undefined,
    ...changes,
  });

async function storedFills() {
  const { fills } = await relay.services.executions.listFills({
    account: 'main',
    fromMs: 0,
    untilMs: Number.MAX_SAFE_INTEGER / 8,
    limit: 100,
  });
  return fills;
}

describe('following', () => {
  test('asks nothing while no order is followed', async () => {
    relay.asked.length = 0;
    await relay.follow();
    expect(relay.asked).toEqual([]);
  });

  test('asks three lists for all open orders together, and what the account holds where no order could', async () => {
    for (const id of ['one', 'two', 'three']) await relay.send(limitAlert({ id }));
    await relay.services.facts.write('main', 'deals', null);
    relay.asked.length = 0;

    await relay.follow();
    expect(relay.asked).toEqual([timePath, positionsPath, dealsPath, ordersPath, historyPath, dealsPath]);
    relay.asked.length = 0;
    await relay.follow();

    expect(relay.asked).toEqual([ordersPath, historyPath, dealsPath]);
    expect(await relay.entry('two')).toMatchObject({
      orderOpen: true,
      execution: { revision: 1, isFollowed: true, orders: [{ role: 'order', status: 'open', filled: '0' }] },
    });
  });

  test('writes nothing while nothing changes', async () => {
    await relay.send(limitAlert());
    await relay.follow();
    relay.clock.advance(3_000);
    await relay.follow();
    expect(await relay.entry('buy-1')).toMatchObject({ execution: { revision: 1 } });
  });

  test('records what filled, at what price and fee, and then asks no more', async () => {
    await relay.send(limitAlert());
    relay.clock.advance(10_000);
    relay.setPrice('49500');
    relay.clock.advance(1_000);

    await relay.follow();

    const { orderOpen, orderId, execution } = await relay.entry('buy-1');
    expect(orderOpen).toBe(false);
    expect(execution).toEqual({
      revision: 1,
      readAtMs: noonMs + 11_000,
      isFollowed: false,
      orders: [
        {
          role: 'order',
          orderId,
          status: 'filled',
          endedAtMs: noonMs + 10_000,
          filled: '0.01',
          filledNotional: '495',
          fees: { USDT: '0.495' },
        },
      ],
    });
    expect(await storedFills()).toEqual([
      {
        account: 'main',
        market: 'BTC_USDT',
        dealId: expect.any(Number),
        atMs: noonMs + 10_000,
        signalId: 'buy-1',
        orderId,
        role: 'order',
        side: 'buy',
        onSpot: false,
        liquidity: 'maker',
        amount: '0.01',
        price: '49500',
        notional: '495',
        fee: '0.495',
        feeAsset: 'USDT',
      },
    ]);
    relay.asked.length = 0;
    await relay.follow();
    expect(relay.asked).toEqual([]);
  });

  test('follows an entry through its stop-loss, which ends with its own fill and fee', async () => {
    await relay.send(buyAlert());
    relay.setPrice('50150');
    await relay.follow();
    const opened = await relay.entry('buy-1');
    expect(opened.execution).toMatchObject({
      isFollowed: true,
      orders: [
        { role: 'order', status: 'filled', filled: '0.01' },
        { role: 'stop_loss', status: 'open', filled: '0', price: '49000' },
        { role: 'take_profit', status: 'open', filled: '0', price: '52000' },
      ],
    });

    relay.clock.advance(minuteMs);
    relay.setPrice('48990');
    await relay.follow();

    const { execution } = await relay.entry('buy-1');
    expect(execution).toMatchObject({
      revision: 2,
      isFollowed: false,
      orders: [
        { role: 'order', status: 'filled' },
        { role: 'stop_loss', status: 'filled', filled: '0.01', endedAtMs: noonMs + minuteMs },
        { role: 'take_profit', status: 'cancelled', filled: '0' },
      ],
    });
    expect((await storedFills()).map(({ role, side, signalId }) => [role, side, signalId])).toEqual([
      ['order', 'buy', 'buy-1'],
      ['stop_loss', 'sell', 'buy-1'],
    ]);
    expect(relay.alarms).toEqual([]);
  });
});

/** Cancels an order as a person would on the exchange's website. */
async function cancelByHand(signalId = 'buy-1'): Promise<void> {
  const client = await relay.services.exchangeFor('main');
  const { orderId } = await relay.entry(signalId);
  await client.call(cancelOrder, { market: 'BTC_USDT', orderId: orderId ?? 0 });
}

describe('an order whose end no list shows', () => {
  beforeEach(async () => {
    relay.paper.control.listCancelled('main', false);
    await relay.send(limitAlert());
    await relay.follow();
    await cancelByHand();
  });

  test('is gone once the lists can no longer lag, and not a moment before', async () => {
    await relay.follow();
    await followFor(9 * 60 + 50);
    expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: true });

    await followFor(10 * 60);

    expect(await relay.entry('buy-1')).toMatchObject({
      status: 'placed',
      orderOpen: false,
      execution: { isFollowed: false, orders: [{ status: 'gone', endedAtMs: null, filled: '0' }] },
    });
  });

  test('is gone in the same time when the clock is set back meanwhile', async () => {
    await followFor(60);
    relay.clock.advance(-24 * 60 * minuteMs);

    await followFor(16 * 60);

    expect(await relay.entry('buy-1')).toMatchObject({ execution: { orders: [{ status: 'gone' }] } });
  });

  test('is asked for alone only now and then', async () => {
    relay.asked.length = 0;
    await followFor(15 * 60);
    const alone = relay.asked.filter((path) => path === orderDealsPath);
    expect(alone.length).toBeGreaterThan(5);
    expect(alone.length).toBeLessThan(15);
  });
});

/** Follows every three seconds, as the local relay does. */
async function followFor(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    relay.clock.advance(3_000);
    await relay.follow();
  }
}

test('of a partner, an order that was cancelled after a fill keeps what filled', async () => {
  relay.paper.control.listCancelled('main', false);
  await relay.send(limitAlert());
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.004'));
  await relay.follow();
  await cancelByHand();

  await followFor(16 * 60);

  expect(await relay.entry('buy-1')).toMatchObject({
    execution: { isFollowed: false, orders: [{ status: 'gone', filled: '0.004', filledNotional: '198' }] },
  });
  expect(await storedFills()).toHaveLength(1);
});

test('lists that lag behind never make an order gone, nor a fill lost or counted twice', async () => {
  await relay.send(limitAlert());
  relay.paper.control.addFault({ fault: 'read_lag', probability: 1, delayMs: 4 * minuteMs });
  relay.clock.advance(10_000);
  relay.setPrice('49500');

  await followFor(3 * 60);
  expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: true, execution: null });
  await followFor(3 * 60);

  expect(await relay.entry('buy-1')).toMatchObject({
    orderOpen: false,
    execution: { revision: 1, isFollowed: false, orders: [{ status: 'filled', filled: '0.01' }] },
  });
  expect(await storedFills()).toHaveLength(1);
});

test('an order that was cancelled by hand after a partial fill says both', async () => {
  await relay.send(limitAlert());
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.004'));
  await relay.follow();
  expect(await relay.entry('buy-1')).toMatchObject({
    orderOpen: true,
    execution: { orders: [{ status: 'partially_filled', filled: '0.004', fees: { USDT: '0.198' } }] },
  });

  await cancelByHand();
  await relay.follow();

  expect(await relay.entry('buy-1')).toMatchObject({
    orderOpen: false,
    execution: { isFollowed: false, orders: [{ status: 'cancelled', filled: '0.004', endedAtMs: noonMs }] },
  });
});

test('the fills of an order are whole for a process that sees only the last of them', async () => {
  await relay.send(limitAlert());
  for (const volume of ['0.003', '0.003']) {
    relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal(volume));
    await relay.follow();
    relay.clock.advance(60 * minuteMs);
  }
  relay.paper.control.setPrice('BTC_USDT', parseDecimal('49500'), parseDecimal('0.1'));
  relay.asked.length = 0;

  // It remembers nothing, and the list of fills shows it only the newest.
  const client = await relay.services.exchangeFor('main');
  const forgetful = override(client, {
    call: (async (endpoint: Endpoint, params: object, options: SendOptions) =>
      endpoint.name === 'executed-history'
        ? ((await client.call(executedHistory, { ...params, limit: 1 }, options)) as unknown)
        : await client.call(endpoint, params, options)) as typeof client.call,
  });
  await createFollower({ ...relay.services, exchangeFor: async () => forgetful }).run(
    Number.POSITIVE_INFINITY,
  );

  expect(relay.asked).toContain(orderDealsPath);
  expect(await relay.entry('buy-1')).toMatchObject({
    execution: { isFollowed: false, orders: [{ status: 'filled', filled: '0.01', fees: { USDT: '0.495' } }] },
  });
  expect(await storedFills()).toHaveLength(3);
});

test('of two entries with equal exits, that whose fill is listed first does not take those of the other', async () => {
  const exits = { limitPrice: '49500', stopLoss: '48000' };
  await relay.send(limitAlert({ id: 'first', ...exits }));
  await relay.send(limitAlert({ id: 'second', ...exits }));
  relay.setPrice('49500');
  const [first, second] = await Promise.all([relay.entry('first'), relay.entry('second')]);
  const client = await relay.services.exchangeFor('main');
  const fillsOf = ['executed-history', 'order-deals'];
  const lagging = override(client, {
    call: (async (endpoint: Endpoint, params: { readonly orderId?: number }, options: SendOptions) => {
      const answer: unknown = await client.call(endpoint, params, options);
      if (!fillsOf.includes(endpoint.name)) return answer;
      const page = answer as ListPage<{ readonly orderId?: number }>;
      const isListed = ({ orderId = params.orderId }) => orderId !== first.orderId;
      return { ...page, records: page.records.filter(isListed) };
    }) as typeof client.call,
  });
  const stopsOf = async (id: string) =>
    (await relay.entry(id)).execution?.orders.flatMap(({ role, orderId }) =>
      role === 'stop_loss' ? [orderId] : [],
    );

  const follower = createFollower({ ...relay.services, exchangeFor: async () => lagging });
  await follower.run(Number.POSITIVE_INFINITY);
  expect((await relay.entry('second')).execution?.orders).toMatchObject([{ filled: '0.01' }]);
  relay.clock.advance(15_000);
  await relay.follow();

  const [[ofFirst = 0] = [], [ofSecond = 0] = []] = [await stopsOf('first'), await stopsOf('second')];
  expect(ofFirst).toBeGreaterThan(second.orderId ?? Number.POSITIVE_INFINITY);
  expect(ofSecond).toBeGreaterThan(ofFirst);
});

test('of two processes that follow the same order, the slower one changes nothing', async () => {
  await relay.send(limitAlert());
  relay.setPrice('49500');
  const slow = override(relay.services.executions, {
    async followed(account: string, limit: number) {
      const entries = await relay.services.executions.followed(account, limit);
      await relay.follow();
      relay.clock.advance(500);
      return entries;
    },
  });

  await createFollower({ ...relay.services, executions: slow }).run(Number.POSITIVE_INFINITY);

  expect(await relay.entry('buy-1')).toMatchObject({ execution: { revision: 1, readAtMs: noonMs } });
  expect(await storedFills()).toHaveLength(1);
});

test('an account whose lists cannot be read is left alone for a while, and then followed', async () => {
  await relay.send(limitAlert());
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'open-order', count: 1 });
  await relay.follow();
  relay.asked.length = 0;
  relay.clock.advance(3_000);
  await relay.follow();
  expect(relay.asked).toEqual([]);

  relay.clock.advance(2_000);
  await relay.follow();

  expect(await relay.entry('buy-1')).toMatchObject({ execution: { orders: [{ status: 'open' }] } });
});

test('an exit that filled before it was seen is found again when the write that claims it fails', async () => {
  await relay.send(buyAlert({ takeProfit: undefined }));
  relay.setPrice('50150');
  relay.clock.advance(1_000);
  relay.setPrice('48990');
  relay.clock.advance(1_000);
  let failures = 1;
  const flaky = override(relay.services.executions, {
    record: (...change) => {
      failures -= 1;
      if (failures >= 0) throw new RelayError('store_unavailable', 'no disk');
      return relay.services.executions.record(...change);
    },
  });
  const follower = createFollower({ ...relay.services, executions: flaky });
  await expect(follower.run(Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code: 'store_unavailable' });
  relay.clock.advance(3_000);

  await follower.run(Number.POSITIVE_INFINITY);

  expect(await relay.entry('buy-1')).toMatchObject({
    execution: { isFollowed: false, orders: [{ status: 'filled' }, { role: 'stop_loss', status: 'filled' }] },
  });
  expect((await storedFills()).map(({ role }) => role)).toEqual(['order', 'stop_loss']);
});

test('a key that cannot be read while orders are followed is an alarm at once, and no more often than others', async () => {
  await relay.send(limitAlert());
  const exchangeFor = async () => {
    throw new RelayError('secrets_missing', 'the secrets file cannot be read: EACCES');
  };
  const follower = createFollower({ ...relay.services, exchangeFor });

  await follower.run(Number.POSITIVE_INFINITY);
  relay.clock.advance(10_000);
  await follower.run(Number.POSITIVE_INFINITY);

  expect(relay.alarms.map(({ name, reason }) => [name, reason])).toEqual([
    ['orders_unread', expect.stringContaining('EACCES')],
  ]);
});

test('an account whose lists stay unreadable raises an alarm, and again as often as other alarms', async () => {
  const raised = () => relay.alarms.map(({ name }) => name);
  const everyMs = relay.services.settings.unknownAlarmAfterMs;
  await relay.send(limitAlert());
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'ended-order', probability: 1 });
  await relay.follow();
  relay.clock.advance(everyMs - 1);
  await relay.follow();
  expect(raised()).toEqual([]);

  relay.clock.advance(minuteMs);
  await relay.follow();
  expect(raised()).toEqual(['orders_unread']);
  relay.clock.advance(everyMs - 1);
  await relay.follow();
  expect(raised()).toEqual(['orders_unread']);
  relay.clock.advance(minuteMs);
  await relay.follow();
  expect(raised()).toEqual(['orders_unread', 'orders_unread']);

  relay.paper.control.clearFaults();
  relay.clock.advance(minuteMs);
  await relay.follow();
  relay.paper.control.addFault({ fault: 'refuse', endpoint: 'ended-order', probability: 1 });
  relay.clock.advance(everyMs);
  await relay.follow();
  expect(raised()).toHaveLength(2);
});

test('an account without a key does not stop the others, and a store that fails is reported', async () => {
  await relay.send(limitAlert());
  const exchangeFor = async () => {
    throw new RelayError('secrets_missing', 'account main has no key');
  };
  await createFollower({ ...relay.services, exchangeFor }).run(Number.POSITIVE_INFINITY);

  const broken = override(relay.services.executions, {
    record: async () => {
      throw new RelayError('store_unavailable', 'no disk');
    },
  });
  const follower = createFollower({ ...relay.services, executions: broken });
  await expect(follower.run(Number.POSITIVE_INFINITY)).rejects.toMatchObject({ code: 'store_unavailable' });
});
