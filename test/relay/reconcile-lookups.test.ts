import { afterEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import type { ListPage } from '../../lib/exchange/listed.ts';
import type { LookupProgress } from '../../lib/ledger/entry.ts';
import type { Order } from '../../lib/model/order.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
afterEach(() => relay.close());

const lostOnItsWay: FaultRequest = { fault: 'drop_before', endpoint: 'stop-limit' };
const lostOnItsWayBack: FaultRequest = { fault: 'drop_after', endpoint: 'stop-limit' };
const plainAlert = buyAlert({ stopLoss: undefined, takeProfit: undefined });

const orders = () => relay.paper.control.state().orders;
const creates = () => relay.paper.control.state().acceptedCreates;
const entry = () => relay.entry('buy-1');

async function readLookup(): Promise<LookupProgress> {
  const found = (await entry()).lookup;
  if (found === null) throw new Error('the entry has no lookup');
  return found;
}

/** The minutes from now on in which the order is looked up. */
async function minutesOfLookups(minutes: number): Promise<readonly number[]> {
  const looked: number[] = [];
  for (let minute = 0; minute <= minutes; minute += 1) {
    if (minute > 0) relay.clock.advance(minuteMs);
    const { lookedUp } = await relay.reconcile();
    if (lookedUp > 0) looked.push(minute);
  }
  return looked;
}

describe('an order that was placed, but whose response was lost', () => {
  async function lose(): Promise<void> {
    relay = await openAftermath();
    expect(await relay.send(buyAlert(), lostOnItsWayBack)).toMatchObject({
      status: 'unknown',
      orderId: null,
    });
  }

  test('is found open at the first lookup, with its id', async () => {
    await lose();

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1, settled: 1 });

    expect(await entry()).toMatchObject({
      status: 'placed',
      orderId: 10_000_000_001,
      orderOpen: true,
      updatedAtMs: noonMs,
    });
    expect((await entry()).steps.at(-1)).toMatchObject({
      by: 'reconcile-signals',
      note: 'found at the exchange as order 10000000001, open (0 of 0.01 filled)',
      evidence: { order: { orderId: 10_000_000_001, side: 'buy', amount: '0.01' } },
    });
    expect(await relay.services.ledger.openOrders('main', 'BTC_USDT', 100)).toMatchObject([
      { signalId: 'buy-1' },
    ]);
    expect([orders().length, creates()]).toEqual([1, 1]);
  });

  test('is found filled, and then is not open', async () => {
    await lose();
    relay.setPrice('50150');

    await relay.reconcile();

    expect(await entry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: false });
    expect((await entry()).steps.at(-1)?.note).toBe(
      'found at the exchange as order 10000000001, filled (0.01 of 0.01 filled)',
    );
    expect(creates()).toBe(1);
  });

  test('is placed even when it is found cancelled', async () => {
    await lose();
    const client = await relay.services.exchangeFor('main');
    await client.call(cancelOrder, { market: 'BTC_USDT', orderId: 10_000_000_001 });

    await relay.reconcile();

    expect(await entry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: false });
    expect((await entry()).steps.at(-1)?.note).toContain('cancelled (0 of 0.01 filled)');
    expect(creates()).toBe(1);
  });

  test('is settled once, and not changed by later runs', async () => {
    await lose();
    await relay.reconcileFor(10);

    expect((await entry()).steps.map(({ status }) => status)).toEqual([
      'accepted',
      'sending',
      'unknown',
      'placed',
    ]);
    expect(relay.asked.filter((path) => path === '/api/v4/orders')).toHaveLength(1);
    expect(creates()).toBe(1);
  });

  test.each([
    ['until after the first lookup', 30_000, [0, 1]],
    ['until after the first three lookups', 4 * minuteMs, [0, 1, 3, 7]],
  ])('is found late when the lists lag %s', async (_, lagMs, minutes) => {
    await lose();
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: lagMs, probability: 1 });

    expect(await minutesOfLookups(10)).toEqual(minutes);

    expect(await entry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
    expect((await readLookup()).notFound).toBe(minutes.length - 1);
    expect(creates()).toBe(1);
  });

  test('raises an alarm when the exchange lists two orders with its client order id', async () => {
    await lose();
    const { clientOrderId } = await entry();
    const client = await relay.services.exchangeFor('main');
    const withOtherId = (order: Order): Order => ({ ...order, orderId: 10_000_000_002 });
    const two = override(client, {
      call: async (...args) => {
        const response: unknown = await client.call(...args);
        const isOpenList = args[0].name === 'open-order';
        const page = response as ListPage<Order>;
        return (
          isOpenList ? { ...page, records: [...page.records, ...page.records.map(withOtherId)] } : response
        ) as Awaited<ReturnType<typeof client.call<(typeof args)[0]>>>;
      },
    });

    await relay.reconcile({ ...relay.services, exchangeFor: async () => two });

    expect(await entry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
    expect(relay.alarms.map(({ name }) => name)).toEqual(['outcome_unknown', 'order_contradicted']);
    expect(clientOrderId).toMatch(/^tr-/);
  });
});

describe('an order that was never placed', () => {
  async function lose(): Promise<void> {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWay);
  }

  test('is looked up at once and after 1, 3 and 7 minutes, and only then is not placed', async () => {
    await lose();

    expect(await minutesOfLookups(6)).toEqual([0, 1, 3]);
    expect(await entry()).toMatchObject({ status: 'unknown', orderOpen: true });
    // Due a little before the minute, because runs start on the minute.
    relay.clock.advance(minuteMs - 10_001);
    expect(await relay.reconcile()).toMatchObject({ lookedUp: 0 });
    relay.clock.advance(10_001);
    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1, settled: 1 });

    expect(await entry()).toMatchObject({ status: 'not_placed', orderId: null, orderOpen: false });
    expect((await entry()).steps.at(-1)).toMatchObject({
      by: 'reconcile-signals',
      evidence: { notFound: 4, firstNotFoundAtMs: noonMs, lastAtMs: noonMs + 7 * minuteMs },
    });
    expect(creates()).toBe(0);
  });

  test('takes more lookups when they follow each other quickly, because lists may lag for minutes', async () => {
    relay = await openAftermath();
    const { services } = relay;
    await relay.send(buyAlert(), lostOnItsWay);
    const settings = { ...services.settings, unknownAlarmAfterMs: minuteMs };
    for (let minute = 0; minute < 5; minute += 1) {
      await relay.reconcile({ ...services, settings });
      relay.clock.advance(minuteMs);
    }
    expect(await entry()).toMatchObject({ status: 'unknown', lookup: { notFound: 5 } });

    await relay.reconcile({ ...services, settings });

    expect(await entry()).toMatchObject({ status: 'not_placed' });
    expect(creates()).toBe(0);
  });

  test('is not looked up more often after an hour without lookups', async () => {
    await lose();
    relay.clock.advance(60 * minuteMs);

    expect(await minutesOfLookups(6)).toEqual([0, 1, 3]);
    expect(await entry()).toMatchObject({ status: 'unknown' });
  });

  test('raises only the first alarm when it is settled in time', async () => {
    await lose();
    await relay.reconcileFor(7);

    expect(relay.alarms).toHaveLength(1);
    expect(await entry()).toMatchObject({ status: 'not_placed' });
  });
});

describe('while the exchange cannot be reached', () => {
  const refusedKey = { apiKey: 'paper-key', apiSecret: 'another-secret' };

  const obstacles: Readonly<Record<string, () => Partial<Aftermath['services']>>> = {
    'it is down': () => {
      relay.paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });
      return {};
    },
    'its responses cannot be read': () => {
      relay.paper.control.addFault({ fault: 'garbage', probability: 1 });
      return {};
    },
    'one of its lists fails': () => {
      relay.paper.control.addFault({ fault: 'error_before', endpoint: 'ended-order', probability: 1 });
      return {};
    },
    'it refuses requests': () => {
      relay.paper.control.addFault({ fault: 'rate_429', probability: 1 });
      return {};
    },
    'it refuses the key': () => {
      const { clock } = relay;
      const address = relay.paper.url;
      const client = createExchangeClient({ address, dialect: 'live', credentials: refusedKey, clock });
      return { exchangeFor: async () => client };
    },
    'no key is stored': () => ({
      exchangeFor: async () => {
        throw new RelayError('secrets_missing', 'account main has no exchange key stored');
      },
    }),
    'the secret cannot be read': () => ({
      exchangeFor: async () => {
        throw new RelayError('store_unavailable', 'the secret could not be read: AccessDeniedException');
      },
    }),
    'an unexpected error occurs': () => ({
      exchangeFor: async () => {
        throw new TypeError('x is not a function');
      },
    }),
  };

  test.each(Object.keys(obstacles))(
    'because %s, the outcome stays unknown and no lookup counts as "not found"',
    async (name) => {
      relay = await openAftermath();
      await relay.send(buyAlert(), lostOnItsWay);
      const services = { ...relay.services, ...obstacles[name]?.() };

      for (let minute = 0; minute <= 15; minute += 1) {
        await relay.reconcile(services);
        relay.clock.advance(minuteMs);
      }

      expect(await entry()).toMatchObject({
        status: 'unknown',
        orderOpen: true,
        lookup: {
          notFound: 0,
          firstNotFoundAtMs: null,
          finding: expect.stringMatching(/^could not be looked up: ./),
        },
      });
      expect((await readLookup()).count).toBeGreaterThanOrEqual(4);
      expect((await readLookup()).finding).not.toContain('x is not a function');
      expect(creates()).toBe(0);
    },
  );

  test('an order is found as soon as the exchange can be reached again', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWayBack);
    relay.paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });
    await relay.reconcileFor(2);
    relay.paper.control.clearFaults();
    // The server listens again with the next turn of the event loop.
    await relay.reconcileFor(5);

    expect(await entry()).toMatchObject({ status: 'placed', lookup: { notFound: 0 } });
    expect(creates()).toBe(1);
  });

  test('an order is found within a minute after an outage of any length', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWayBack);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });
    expect(await minutesOfLookups(11)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    relay.paper.control.clearFaults();
    relay.clock.advance(minuteMs);
    await relay.reconcile();

    expect(await entry()).toMatchObject({ status: 'placed' });
  });

  test('inconclusive lookups do not count as "not found"', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWay);
    await relay.reconcile();
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });
    for (let minute = 1; minute <= 3; minute += 1) {
      relay.clock.advance(minuteMs);
      await relay.reconcile();
    }
    relay.paper.control.clearFaults();

    await relay.reconcileFor(30);

    const { steps } = await entry();
    expect(steps.at(-1)).toMatchObject({
      status: 'not_placed',
      evidence: { notFound: 4, firstNotFoundAtMs: noonMs },
    });
    expect((await readLookup()).count).toBe(6);
  });

  test('for one account, the orders of the others are settled', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWayBack);
    const { ledger, exchangeFor } = relay.services;
    const { signal, clientOrderId, fingerprint } = await entry();
    if (signal === null) throw new Error('the signal is gone');
    const slow = { account: 'slow', signalId: 'older' };
    await acceptOne(ledger, { ...slow, signal, clientOrderId, fingerprint, atMs: noonMs - 1 }, null);
    await ledger.start(slow, { status: 'sending', atMs: noonMs - 1, note: '' }, null);
    await ledger.move(slow, { from: 'sending', step: { status: 'unknown', atMs: noonMs - 1, note: '' } });

    const done = await relay.reconcile({
      ...relay.services,
      exchangeFor: async (account) => {
        if (account === 'slow') throw new RelayError('store_unavailable', 'the secret could not be read');
        return await exchangeFor(account);
      },
    });

    expect(done).toMatchObject({ lookedUp: 2, settled: 1 });
    expect(await entry()).toMatchObject({ status: 'placed' });
    expect(await ledger.read(slow)).toMatchObject({ status: 'unknown', lookup: { count: 1, notFound: 0 } });
  });
});

describe('an order in the documented dialect', () => {
  test('is found while it waits with its stop-loss and take-profit', async () => {
    relay = await openAftermath('documented');
    await relay.send(buyAlert(), lostOnItsWayBack);

    await relay.reconcile();

    expect(await entry()).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: true });
    expect(creates()).toBe(1);
  });

  test.each([
    ['was placed', lostOnItsWayBack, 1],
    ['was not', lostOnItsWay, 0],
  ])(
    'without stop-loss and take-profit stays unknown, with alarms, whether it %s',
    async (_, fault, count) => {
      relay = await openAftermath('documented');
      await relay.send(plainAlert, fault);

      await relay.reconcileFor(180);

      expect(await entry()).toMatchObject({ status: 'unknown', orderOpen: true, lookup: { notFound: 0 } });
      expect(relay.alarms.length).toBeGreaterThanOrEqual(12);
      expect(creates()).toBe(count);
    },
  );
});

describe('lookups of an outcome that stays unknown', () => {
  async function loseForGood(): Promise<void> {
    relay = await openAftermath('documented');
    await relay.send(plainAlert, lostOnItsWay);
  }

  test('become less frequent, but are never later than the next alarm', async () => {
    await loseForGood();

    expect(await minutesOfLookups(61)).toEqual([0, 1, 3, 7, 15, 30, 45, 60]);
  });

  test('happen at least once an hour when alarms are a day apart', async () => {
    await loseForGood();
    const settings = { ...relay.services.settings, unknownAlarmAfterMs: 1440 * minuteMs };
    const pausesMs: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      await relay.reconcile({ ...relay.services, settings });
      const { dueAtMs } = await readLookup();
      // Due a little early, so that the run of that minute finds it.
      const pauseMs = dueAtMs + 10_000 - relay.clock.nowMs();
      pausesMs.push(pauseMs);
      relay.clock.advance(pauseMs);
    }

    expect(pausesMs.map((pauseMs) => pauseMs / minuteMs)).toEqual([
      1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60,
    ]);
  });

  test('repeat the alarm at the configured interval, with the latest finding', async () => {
    await loseForGood();
    await relay.reconcileFor(14);
    expect(relay.alarms).toHaveLength(1);

    await relay.reconcileFor(0);
    const minutes: number[] = [];
    for (let minute = 15; minute <= 60; minute += 1) {
      relay.clock.advance(minuteMs);
      const before = relay.alarms.length;
      await relay.reconcile();
      if (relay.alarms.length > before) minutes.push(minute);
    }

    expect(minutes).toEqual([15, 30, 45, 60]);
    expect(relay.alarms.at(-1)).toMatchObject({
      account: 'main',
      signalId: 'buy-1',
      market: 'BTC_USDT',
      status: 'unknown',
      unknownForMs: 60 * minuteMs,
      lookups: 8,
      note: expect.stringContaining('the order is not listed'),
      name: 'outcome_unknown',
    });
  });

  test('raise one alarm after hours without a lookup', async () => {
    await loseForGood();
    relay.clock.advance(300 * minuteMs);

    await relay.reconcileFor(14);

    expect(relay.alarms).toHaveLength(2);
  });

  test('repeat an alarm after a crash between the alarm and the ledger write', async () => {
    await loseForGood();
    await relay.reconcileFor(14);
    relay.clock.advance(minuteMs);
    const { ledger } = relay.services;
    const dying = override(ledger, {
      postpone: async () => {
        throw new RelayError('store_unavailable', 'the process stopped here');
      },
    });

    await expect(relay.reconcile({ ...relay.services, ledger: dying })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(relay.alarms).toHaveLength(2);
    await relay.reconcile();
    expect(relay.alarms).toHaveLength(3);
    await relay.reconcile();
    expect(relay.alarms).toHaveLength(3);
  });
});
