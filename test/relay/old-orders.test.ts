import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Entry } from '../../lib/ledger/entry.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

let relay: Aftermath;
afterEach(() => relay.close());

const cancelPath = '/api/v4/order/cancel';
const openPath = '/api/v4/orders';
const cancelAll = JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' });
const manyOrders = 1500;

/** Stores orders that filled at the exchange long ago and still count as open in the ledger. */
async function storeOldOrders(count: number): Promise<void> {
  const { ledger } = relay.services;
  const { signal } = await relay.entry('buy-1');
  if (signal === null) throw new Error('there is no signal to copy');
  const atMs = relay.clock.nowMs() - 60 * minuteMs;
  const ids = Array.from({ length: count }, (_, index) => `old-${index}`);
  for (const [index, signalId] of ids.entries()) {
    const key = { account: 'main', signalId };
    const clientOrderId = clientOrderIdOf('main', signalId);
    await ledger.accept([{ ...key, signal, clientOrderId, fingerprint: 'f', atMs }], null);
    await ledger.start(key, { status: 'sending', atMs, note: '' }, null);
    const step = { status: 'placed', atMs, note: '' } as const;
    await ledger.move(key, { from: 'sending', step, orderId: 5_000_000 + index, orderOpen: true });
  }
}

const believedOpen = async (): Promise<readonly Entry[]> =>
  await relay.services.ledger.openOrders('main', 'BTC_USDT', 10_000);
const requestsTo = (path: string) => relay.asked.filter((asked) => asked === path).length;

describe('in the live dialect, with many ended orders that the ledger counts as open', () => {
  beforeEach(async () => {
    relay = await openAftermath();
    await relay.send(buyAlert());
    await storeOldOrders(manyOrders);
  });

  test('a cancel_all reads the open orders, cancels only those, and closes the other entries', async () => {
    await relay.send(cancelAll);

    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
    expect(requestsTo(cancelPath)).toBe(1);
    // Once to find the open orders, and once to read back what is left.
    expect(requestsTo(openPath)).toBe(2);
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
    expect((await believedOpen()).length).toBeLessThan(manyOrders);
    expect(relay.alarms).toEqual([]);
  });

  test('a cancel_all finds an own order by its exchange id although its entry was not among those read', async () => {
    relay.clock.advance(minuteMs);
    const { signal } = await relay.entry('buy-1');
    // The newest thousand are all of later times than the one that is open.
    for (const { signalId } of (await believedOpen()).filter((entry) => entry.signalId !== 'buy-1'))
      await relay.services.ledger.closeOrder({ account: 'main', signalId });
    for (let index = 0; index < 1000; index += 1) {
      const key = { account: 'main', signalId: `new-${index}` };
      const atMs = relay.clock.nowMs();
      if (signal !== null)
        await relay.services.ledger.accept(
          [{ ...key, signal, clientOrderId: `tr-${index}`, fingerprint: 'f', atMs }],
          null,
        );
      await relay.services.ledger.start(key, { status: 'sending', atMs, note: '' }, null);
      const step = { status: 'placed', atMs, note: '' } as const;
      await relay.services.ledger.move(key, {
        from: 'sending',
        step,
        orderId: 9_000_000 + index,
        orderOpen: true,
      });
    }
    relay.clock.advance(30 * minuteMs);

    await relay.send(cancelAll);

    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
    expect(requestsTo(cancelPath)).toBe(1);
  });

  test('a cancel_all does not cancel open orders of others in the market', async () => {
    await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });
    relay.clock.advance(20 * minuteMs);
    const stranger = relay.paper.control.state().orders[0]?.orderId;

    await relay.send(cancelAll);

    // Closed in the ledger, but open at the exchange and placed by this relay.
    expect(stranger).toBeGreaterThan(0);
    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('a cancel_all cancels the newest open orders of the ledger while the list cannot be read', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });

    await relay.send(cancelAll);

    const { status, steps } = await relay.entry('all');
    expect(status).toBe('not_sent');
    expect(steps.at(-1)?.note).toBe(
      'of 100 orders: 1 cancelled, 99 no longer open; 900 older orders were left out: send the cancellation again; the open orders could not be read back',
    );
    expect(relay.paper.control.state().orders.map(({ status: end }) => end)).toEqual(['cancelled']);
    expect(relay.alarms).toMatchObject([{ signalId: 'all' }]);
  });

  test('a cancel by the exchange’s id finds the signal that placed it', async () => {
    const { orderId } = await relay.entry('buy-1');

    await relay.send(JSON.stringify({ id: 'one', ticker: 'BTCUSDT', action: 'cancel', orderId }));

    expect(await relay.entry('one')).toMatchObject({ status: 'cancelled' });
    expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: false });
  });
});

test('a cancel_all cancels an order that is open at the exchange although the ledger counts it as ended', async () => {
  relay = await openAftermath();
  await relay.send(buyAlert());
  await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });

  await relay.send(cancelAll);

  expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
  expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
});

describe('in the documented dialect, which lists no open orders', () => {
  test('a cancel_all cancels the newest hundred, and raises an alarm that it left older ones out', async () => {
    relay = await openAftermath('documented');
    await relay.send(buyAlert());
    await storeOldOrders(manyOrders);

    await relay.send(cancelAll);

    expect(await relay.entry('all')).toMatchObject({ status: 'not_sent' });
    expect(requestsTo(cancelPath)).toBe(100);
    expect(relay.alarms).toMatchObject([{ signalId: 'all' }]);
    expect(await believedOpen()).toHaveLength(manyOrders + 1 - 100);
  });
});

test('ended orders that the ledger counts as open are followed to an end that no list shows, a few in each run', async () => {
  relay = await openAftermath();
  await relay.send(buyAlert());
  await storeOldOrders(150);
  await relay.follow();
  expect(await believedOpen()).toHaveLength(151);

  for (let run = 0; run < 400; run += 1) {
    relay.clock.advance(6_000);
    await relay.follow();
  }

  expect(await believedOpen()).toMatchObject([{ signalId: 'buy-1' }]);
  expect(await relay.entry('old-7')).toMatchObject({
    status: 'placed',
    orderOpen: false,
    execution: { isFollowed: false, orders: [{ status: 'gone' }] },
  });
});
