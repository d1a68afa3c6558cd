import { afterEach, describe, expect, test } from '@jest/globals';
import { endedOrder } from '../../lib/exchange/endpoints/ended-order.ts';
import { openOrder } from '../../lib/exchange/endpoints/open-order.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

const create = '/api/v4/order/collateral/stop-limit';
const openList = '/api/v4/orders';
const endedList = '/api/v4/trade-account/order/history';
const fillList = '/api/v4/trade-account/executed-history';

/** Not stale within an hour. */
const patience = { time: new Date(noonMs).toISOString(), maxLag: 3600 };
const alert = buyAlert(patience);

let relay: Aftermath;
afterEach(() => relay.close());

const orderCount = () => relay.paper.control.state().orders.length;
const askedFor = (path: string) => relay.asked.filter((asked) => asked === path).length;

async function open(...args: Parameters<typeof openAftermath>): Promise<void> {
  relay = await openAftermath(...args);
  await relay.begin();
  relay.asked.length = 0;
}

describe('an order that gets HTTP 429, when lists hold every order', () => {
  test.each(['nonce_429_after', 'rate_429_after'] as const)(
    'but was accepted (%s) is found and not sent again',
    async (fault) => {
      await open();

      const { status, orderId, orderOpen, steps } = await relay.send(alert, { fault });

      expect({ status, orderId, orderOpen }).toEqual({
        status: 'placed',
        orderId: 10_000_000_001,
        orderOpen: true,
      });
      expect(steps.at(-1)?.note).toMatch(/^found at the exchange as order 10000000001, open/);
      expect(relay.asked).toEqual([create, openList, endedList]);
      expect(orderCount()).toBe(1);
      expect(relay.alarms).toEqual([]);
    },
  );

  test.each(['nonce_429', 'rate_429'] as const)(
    'and is in no list is not sent again (%s), and proved never to have been placed',
    async (fault) => {
      await open();

      const sent = await relay.send(alert, { fault, endpoint: 'stop-limit' });
      const asked = [...relay.asked];
      const alarms = relay.alarms.map(({ name }) => name);
      await relay.reconcileFor(10);

      expect(sent).toMatchObject({ status: 'unknown', orderOpen: true });
      expect(asked).toEqual([create, openList, endedList, fillList]);
      expect(alarms).toEqual(['outcome_unknown']);
      expect(askedFor(create)).toBe(1);
      expect(await relay.entry('buy-1')).toMatchObject({ status: 'not_placed', orderOpen: false });
    },
  );

  test.each(['refuse', 'error_before', 'rate_429'] as const)(
    'is not sent again while the lists cannot be read (%s), and the reconciler settles it',
    async (fault) => {
      await open();
      relay.paper.control.addFault({ fault, endpoint: 'open-order', probability: 1 });

      const sent = await relay.send(alert, { fault: 'rate_429_after', endpoint: 'stop-limit' });
      relay.paper.control.clearFaults();
      await relay.reconcile();

      expect(sent).toMatchObject({ status: 'unknown', orderOpen: true });
      expect(askedFor(create)).toBe(1);
      expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
    },
  );

  test('is not doubled when it was accepted, triggers and fills within the second, and the lists lag', async () => {
    await open('live', () => {
      if (relay?.asked.at(-1) === openList) relay.setPrice('50150');
    });
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 30_000, probability: 1 });

    const sent = await relay.send(alert, { fault: 'rate_429_after', endpoint: 'stop-limit' });
    relay.paper.control.clearFaults();
    await relay.reconcile();

    expect(sent).toMatchObject({ status: 'unknown', orderOpen: true });
    expect(relay.paper.control.state().acceptedCreates).toBe(1);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
  });

  test('is not placed when a list shows a different order with its client order id', async () => {
    await open();
    const { exchangeFor } = relay.services;
    const key = await relay.receive(alert);
    relay.paper.control.addFault({ fault: 'rate_429_after', endpoint: 'stop-limit' });

    const client = await exchangeFor('main');
    const call: typeof client.call = async (endpoint, params, options) => {
      const result = await client.call(endpoint, params, options);
      if (endpoint.name === openOrder.name)
        for (const order of (result as { records: { side: string }[] }).records) order.side = 'sell';
      return result;
    };
    await executeSignal({ ...relay.services, exchangeFor: async () => override(client, { call }) }, key);

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'unknown', orderOpen: true, orderId: null });
    expect(relay.alarms).toHaveLength(2);
  });

  test('is found in the history when it was filled at once', async () => {
    await open('live', () => {
      // Between the create and the lookup.
      if (relay?.asked.at(-1) === openList) relay.setPrice('50150');
    });

    const sent = await relay.send(alert, { fault: 'rate_429_after', endpoint: 'stop-limit' });

    expect(sent).toMatchObject({ status: 'placed', orderOpen: false });
    expect(endedOrder.path.live).toBe(relay.asked.at(-1));
    expect(askedFor(create)).toBe(1);
  });
});

describe('a limit order that gets HTTP 429, and may have filled at once', () => {
  const limitCreate = '/api/v4/order/collateral/limit';
  const limitAlert = buyAlert({ ...patience, orderType: 'limit', stopPrice: undefined });

  test('is not sent again while the lists lag: its id is free, and the exchange would accept a second order', async () => {
    await open();
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 30_000, probability: 1 });

    const sent = await relay.send(limitAlert, { fault: 'rate_429_after', endpoint: 'limit' });
    relay.paper.control.clearFaults();
    await relay.reconcile();

    expect(sent).toMatchObject({ status: 'unknown', orderOpen: true });
    expect(askedFor(limitCreate)).toBe(1);
    expect(relay.paper.control.state().acceptedCreates).toBe(1);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: false });
  });

  test('is found at once if the lists show it', async () => {
    await open();

    const sent = await relay.send(limitAlert, { fault: 'rate_429_after', endpoint: 'limit' });

    expect(sent).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: false });
    expect(relay.asked).toEqual([limitCreate, openList, endedList]);
  });

  test('and was refused is proved never to have been placed', async () => {
    await open();

    const sent = await relay.send(limitAlert, { fault: 'nonce_429', endpoint: 'limit' });
    await relay.reconcileFor(10);

    expect(sent).toMatchObject({ status: 'unknown', orderOpen: true });
    expect(askedFor(limitCreate)).toBe(1);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'not_placed', orderOpen: false });
  });
});

describe('an order that gets HTTP 429, when only orders with stop-loss and take-profit are listed', () => {
  const list = '/api/v4/orders/conditional';
  const plainAlert = buyAlert({ ...patience, stopLoss: undefined, takeProfit: undefined });

  test('is found if it has a stop-loss and take-profit', async () => {
    await open('documented');

    expect(await relay.send(alert, { fault: 'rate_429_after' })).toMatchObject({ status: 'placed' });
    expect(relay.asked).toEqual([create, list]);
    expect(orderCount()).toBe(1);
  });

  test.each([
    ['that was accepted', 'rate_429_after', 1],
    ['that was refused', 'nonce_429', 0],
  ] as const)('%s is not sent again: no list can show whether it exists', async (_, fault, orders) => {
    await open('documented');

    const sent = await relay.send(plainAlert, { fault });

    expect(sent).toMatchObject({ status: 'unknown', orderOpen: true });
    expect(relay.asked).toEqual([create, list]);
    expect(orderCount()).toBe(orders);
  });

  test('is not sent again while the list cannot be read', async () => {
    await open('documented');
    relay.paper.control.addFault({ fault: 'refuse', endpoint: 'conditional-orders' });

    expect(await relay.send(plainAlert, { fault: 'nonce_429', endpoint: 'stop-limit' })).toMatchObject({
      status: 'unknown',
    });
    expect(relay.asked).toEqual([create, list]);
  });
});
