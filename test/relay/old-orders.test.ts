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
const count = 1500;

/** Orders that filled at the exchange a while ago, of which the ledger heard nothing since they were placed. */
async function storeOldOrders(): Promise<void> {
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

/** To the minute at which a run of the reconciler closes what has ended. */
function advanceToClosing(): void {
  relay.clock.advance(17 * minuteMs - (relay.clock.nowMs() % (10 * minuteMs)));
}

const believedOpen = async (): Promise<readonly Entry[]> =>
  await relay.services.ledger.openOrders('main', 'BTC_USDT', 10_000);
const requestsTo = (path: string) => relay.asked.filter((asked) => asked === path).length;

describe('in the live dialect, with many orders that ended unheard of', () => {
  beforeEach(async () => {
    relay = await openAftermath();
    await relay.send(buyAlert());
    await storeOldOrders();
  });

  test('a cancel_all asks what is open, cancels that alone, and closes what is not', async () => {
    await relay.send(cancelAll);

    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
    expect(requestsTo(cancelPath)).toBe(1);
    expect(requestsTo(openPath)).toBe(1);
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
    expect((await believedOpen()).length).toBeLessThan(count);
    expect(relay.alarms).toEqual([]);
  });

  test('a cancel_all finds its own order by the exchange’s id among those it did not read', async () => {
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

  test('a cancel_all leaves alone what others have open in the market', async () => {
    await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });
    relay.clock.advance(20 * minuteMs);
    const stranger = relay.paper.control.state().orders[0]?.orderId;

    await relay.send(cancelAll);

    // Closed in the ledger, but its own all the same: the exchange knows better.
    expect(stranger).toBeGreaterThan(0);
    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('the reconciler closes them, some with each run, and leaves the open one', async () => {
    advanceToClosing();
    await relay.reconcile();
    expect(await believedOpen()).toHaveLength(count + 1 - 200);

    await relay.reconcileFor(90);

    expect(await believedOpen()).toMatchObject([{ signalId: 'buy-1' }]);
    expect(await relay.entry('old-7')).toMatchObject({ status: 'placed', orderOpen: false });
  });

  test('the reconciler closes nothing while the list cannot be read, and says so to nobody’s harm', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });
    advanceToClosing();
    expect(await relay.reconcile()).toMatchObject({ closed: 0 });
    expect(await believedOpen()).toHaveLength(count + 1);
  });

  test('a cancel_all falls back on the newest of the ledger while the list cannot be read', async () => {
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'open-order', probability: 1 });

    await relay.send(cancelAll);

    const { status, steps } = await relay.entry('all');
    expect(status).toBe('not_sent');
    expect(steps.at(-1)?.note).toBe(
      'of 100 orders: 1 cancelled, 99 no longer open; 900 older ones were not asked for: send the cancellation again',
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

test('a cancel_all finds what is open at the exchange although the ledger takes everything for ended', async () => {
  relay = await openAftermath();
  await relay.send(buyAlert());
  await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });

  await relay.send(cancelAll);

  expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
  expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
});

describe('in the documented dialect, which lists no open orders', () => {
  test('a cancel_all asks for the newest hundred, and says that it left older ones out', async () => {
    relay = await openAftermath('documented');
    await relay.send(buyAlert());
    await storeOldOrders();

    await relay.send(cancelAll);

    expect(await relay.entry('all')).toMatchObject({ status: 'not_sent' });
    expect(requestsTo(cancelPath)).toBe(100);
    expect(relay.alarms).toMatchObject([{ signalId: 'all' }]);
    expect(await believedOpen()).toHaveLength(count + 1 - 100);
  });
});
