import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { damageRow } from '../support/damage-row.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const damage = (signalId: string, column: 'signal' | 'steps' | 'look' = 'signal') =>
  damageRow(relay.file, { account: 'main', signalId }, column);
const cancel = (fields: object) => JSON.stringify({ id: 'stop', ticker: 'BTCUSDT', ...fields });
const ordersAtTheExchange = () =>
  relay.paper.control.state().orders.map(({ clientOrderId, status }) => `${clientOrderId} ${status}`);
const orderOf = (signalId: string, status: string) => `${clientOrderIdOf('main', signalId)} ${status}`;

async function statusOf(signalId: string): Promise<string | undefined> {
  const { entries } = await relay.services.ledger.list({ limit: 100 });
  return entries.find((entry) => entry.signalId === signalId)?.status;
}

/** Leaves an entry in `sending`, as a worker that dies does. */
async function leaveSending(signalId: string): Promise<void> {
  const key = await relay.receive(buyAlert({ id: signalId }));
  const step = { status: 'sending', atMs: relay.clock.nowMs(), note: '' } as const;
  await relay.services.ledger.start(key, step, null);
}

describe.each(['signal', 'steps'] as const)('a waiting signal whose %s is damaged', (column) => {
  test('is denied with an alarm, and later signals are executed', async () => {
    await relay.receive(buyAlert({ id: 'torn' }));
    damage('torn', column);

    await relay.send(buyAlert({ id: 'next' }));
    await relay.send(buyAlert({ id: 'last' }));

    expect(ordersAtTheExchange()).toEqual([orderOf('next', 'open'), orderOf('last', 'open')]);
    expect(await statusOf('torn')).toBe('denied');
    expect(relay.alarms).toMatchObject([{ signalId: 'torn' }]);
  });

  test('is never sent by a relay that reads it, as after a restart', async () => {
    await relay.receive(buyAlert({ id: 'torn' }));
    damage('torn', column);

    // Without what the running relay remembers of it.
    const services = { ...relay.services, ledger: createSqliteLedger(relay.file) };
    await expect(relay.executeWith(services, 'torn')).rejects.toMatchObject({ code: 'entry_damaged' });

    expect(await statusOf('torn')).toBe('accepted');
    expect(ordersAtTheExchange()).toEqual([]);
  });

  test('does not prevent the others from being enqueued, and is denied with an alarm in the end', async () => {
    const time = new Date(relay.clock.nowMs()).toISOString();
    for (const id of ['before', 'torn', 'after']) await relay.receive(buyAlert({ id, time, maxLag: 7200 }));
    damage('torn', column);

    relay.clock.advance(minuteMs);
    const queue = { enqueue: async () => undefined };
    expect(await relay.reconcile({ ...relay.services, queue })).toMatchObject({ enqueued: 2, denied: 0 });
    expect(relay.alarms).toEqual([]);
    relay.clock.advance(15 * minuteMs);
    expect(await relay.reconcile()).toMatchObject({ denied: 1, stuck: 2 });

    expect(await statusOf('torn')).toBe('denied');
    expect(relay.alarms).toMatchObject([{ signalId: 'torn' }, { name: 'signals_waiting', signals: 2 }]);
  });
});

describe('a cancellation', () => {
  test.each(['signal', 'steps'] as const)(
    'of a signal whose %s is damaged is settled with an alarm, and later signals are executed',
    async (column) => {
      await relay.send(buyAlert({ id: 'torn' }));
      damage('torn', column);
      await relay.receive(cancel({ action: 'cancel', signalId: 'torn' }));

      await relay.send(buyAlert({ id: 'next' }));

      expect(await relay.entry('stop')).toMatchObject({ status: 'not_sent' });
      expect((await relay.entry('stop')).steps.at(-1)?.note).toBe(
        'nothing was sent: the entry of signal "torn" of account main cannot be read',
      );
      expect(relay.alarms).toMatchObject([{ signalId: 'stop' }]);
      expect(await relay.entry('next')).toMatchObject({ status: 'placed' });
    },
  );

  test('of a damaged signal that still waits is settled with an alarm, and later signals are executed', async () => {
    await relay.receive(buyAlert({ id: 'torn' }));
    damage('torn');
    await relay.receive(cancel({ action: 'cancel', signalId: 'torn' }));

    await relay.send(buyAlert({ id: 'next' }));

    expect(await statusOf('torn')).toBe('denied');
    expect(await statusOf('stop')).toBe('not_sent');
    expect(relay.alarms).toMatchObject([{ signalId: 'torn' }, { signalId: 'stop' }]);
    expect(ordersAtTheExchange()).toEqual([orderOf('next', 'open')]);
  });

  test('of all orders also cancels the order whose signal is damaged', async () => {
    await relay.send(buyAlert({ id: 'torn' }));
    await relay.send(buyAlert({ id: 'whole' }));
    damage('torn');

    await relay.send(cancel({ action: 'cancel_all' }));

    expect(await relay.entry('stop')).toMatchObject({ status: 'cancelled' });
    expect(ordersAtTheExchange()).toEqual([orderOf('torn', 'cancelled'), orderOf('whole', 'cancelled')]);
    expect(await relay.services.ledger.openOrders('main', 'BTC_USDT', 10)).toEqual([]);
  });

  test('by the exchange’s order id also cancels an order whose signal is damaged', async () => {
    const { orderId } = await relay.send(buyAlert({ id: 'torn' }));
    damage('torn');

    await relay.send(cancel({ action: 'cancel', orderId }));

    expect(await relay.entry('stop')).toMatchObject({ status: 'cancelled' });
    expect(await relay.services.ledger.openOrders('main', 'BTC_USDT', 10)).toEqual([]);
  });
});

describe('the reconciler', () => {
  test.each(['signal', 'steps'] as const)(
    'takes over the entries of a dead worker, including one whose %s is damaged',
    async (column) => {
      for (const id of ['first', 'torn', 'last']) await leaveSending(id);
      damage('torn', column);
      relay.clock.advance(minuteMs);

      expect(await relay.reconcile()).toMatchObject({ takenOver: 3 });

      expect(await statusOf('torn')).toBe('unknown');
      expect(await relay.services.ledger.openOrders('main', 'BTC_USDT', 10)).toHaveLength(3);
      expect(relay.alarms.filter(({ signalId }) => signalId === 'torn')).toHaveLength(2);
    },
  );

  test.each(['signal', 'steps', 'look'] as const)(
    'finds the orders of the others, and raises an alarm in each run for the one whose %s is damaged',
    async (column) => {
      for (const id of ['first', 'torn', 'last'])
        await relay.send(buyAlert({ id }), { fault: 'drop_after', endpoint: 'stop-limit' });
      damage('torn', column);
      const before = relay.alarms.length;

      expect(await relay.reconcile()).toMatchObject({ lookedUp: 3, settled: 2 });
      relay.clock.advance(minuteMs);
      expect(await relay.reconcile()).toMatchObject({ lookedUp: 1, settled: 0 });

      expect([await statusOf('first'), await statusOf('torn'), await statusOf('last')]).toEqual([
        'placed',
        'unknown',
        'placed',
      ]);
      expect(relay.alarms.slice(before)).toMatchObject([
        { signalId: 'torn', clientOrderId: clientOrderIdOf('main', 'torn') },
        { signalId: 'torn', clientOrderId: clientOrderIdOf('main', 'torn') },
      ]);
    },
  );
});
