import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { createExchangeClient } from '../../lib/exchange/client.ts';
import type { Step } from '../../lib/ledger/entry.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const createPath = '/api/v4/order/collateral/stop-limit';
const cancelPath = '/api/v4/order/cancel';

function alert(fields: object): string {
  return JSON.stringify({ ticker: 'BTCUSDT', ...fields });
}

const statuses = async (id: string) => (await relay.entry(id)).steps.map(({ status }) => status);
const lastStep = async (id: string): Promise<Step | undefined> => (await relay.entry(id)).steps.at(-1);
const ordersAtTheExchange = () =>
  relay.paper.control.state().orders.map(({ clientOrderId, status }) => `${clientOrderId} ${status}`);

/** Stores the alerts without enqueuing them. */
async function leaveBehind(...alerts: readonly string[]): Promise<void> {
  for (const body of alerts) await relay.receive(body);
}

describe('an order that waits without a message', () => {
  test.each([
    ['its signal', { signalId: 'buy-1' }],
    ['its client order id', { clientOrderId: clientOrderIdOf('main', 'buy-1') }],
  ])('is withdrawn by a cancellation that names %s, and never sent', async (_, target) => {
    await leaveBehind(buyAlert());

    await relay.send(alert({ id: 'stop', action: 'cancel', ...target }));

    expect(await statuses('buy-1')).toEqual(['accepted', 'cancelled']);
    expect(await lastStep('buy-1')).toMatchObject({
      note: 'withdrawn by signal "stop" before it was sent',
      evidence: { withdrawnBy: 'stop' },
    });
    expect(await statuses('stop')).toEqual(['accepted', 'cancelled']);
    await relay.reconcileFor(20);
    await relay.execute('buy-1');
    expect(relay.asked).not.toContain(createPath);
    expect(relay.asked).not.toContain(cancelPath);
    expect(relay.alarms).toEqual([]);
  });

  test('is withdrawn by a later cancel_all, and an order after the cancel_all is not', async () => {
    await relay.send(buyAlert({ id: 'open' }));
    await leaveBehind(
      buyAlert({ id: 'before' }),
      alert({ id: 'all', action: 'cancel_all' }),
      buyAlert({ id: 'after' }),
      alert({ id: 'eth', ticker: 'ETHUSDT', action: 'cancel_all' }),
    );

    await relay.execute('all');

    expect(await statuses('before')).toEqual(['accepted', 'cancelled']);
    expect(await statuses('all')).toEqual(['accepted', 'sending', 'cancelled']);
    expect(await lastStep('all')).toMatchObject({
      note: '1 signals were withdrawn before they were sent; of 1 orders: 1 cancelled; none of them is open any more',
      evidence: { withdrawn: ['before'] },
    });
    expect(await statuses('after')).toEqual(['accepted']);
    await relay.execute('after');
    expect(await statuses('after')).toEqual(['accepted', 'sending', 'placed']);
  });

  test('is listed once for a cancel_all', async () => {
    await leaveBehind(buyAlert({ id: 'before' }), alert({ id: 'all', action: 'cancel_all' }));
    const { services } = relay;
    const lists: string[] = [];
    const ledger = override(services.ledger, {
      async readDue(...args) {
        lists.push('readDue');
        return await services.ledger.readDue(...args);
      },
      async waiting(...args) {
        lists.push('waiting');
        return await services.ledger.waiting(...args);
      },
    });

    await relay.executeWith({ ...services, ledger }, 'all');

    expect(lists).toEqual(['readDue']);
    expect(await statuses('before')).toEqual(['accepted', 'cancelled']);
  });

  test('is withdrawn by a cancel_all after it, however many wait', async () => {
    const ids = Array.from({ length: 120 }, (_, index) => `before-${index}`);
    await leaveBehind(...ids.map((id) => buyAlert({ id })), alert({ id: 'all', action: 'cancel_all' }));

    await expect(relay.execute('all')).rejects.toMatchObject({ code: 'earlier_signals_wait' });
    await relay.execute('all');

    for (const id of ids) expect(await statuses(id)).toEqual(['accepted', 'cancelled']);
    expect(await statuses('all')).toEqual(['accepted', 'sending', 'cancelled']);
    expect(relay.asked).not.toContain(createPath);
  });

  test('is sent before a cancel_all of the same alert, which then cancels it; one after that stays', async () => {
    await relay.receiveAll(
      JSON.stringify([
        JSON.parse(buyAlert({ id: 'first' })),
        { id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' },
        JSON.parse(buyAlert({ id: 'last' })),
      ]),
    );

    await relay.execute('last');

    expect(await statuses('first')).toEqual(['accepted', 'sending', 'placed']);
    expect(await statuses('all')).toEqual(['accepted', 'sending', 'cancelled']);
    expect(await statuses('last')).toEqual(['accepted', 'sending', 'placed']);
    expect(ordersAtTheExchange()).toEqual([
      `${clientOrderIdOf('main', 'first')} cancelled`,
      `${clientOrderIdOf('main', 'last')} open`,
    ]);
  });

  test('is sent, if it turns a position, although a page of others waits with it and a cancel_all of its alert', async () => {
    const margin = { ticker: 'BTCUSDT', maxSlippage: '0.5%' };
    await relay.send(
      JSON.stringify({ ...margin, id: 'buy', action: 'buy', orderType: 'market', quantity: '0.1' }),
    );
    const ids = Array.from({ length: 50 }, (_, index) => `before-${index}`);
    await leaveBehind(...ids.map((id) => buyAlert({ id })));
    await relay.receiveAll(
      JSON.stringify([
        { ...margin, id: 'turn', action: 'reverse' },
        { id: 'all', ticker: 'BTCUSDT', action: 'cancel_all' },
      ]),
    );
    relay.clock.advance(11_000);

    await expect(relay.execute('all')).rejects.toMatchObject({ code: 'earlier_signals_wait' });
    await relay.execute('all');

    expect(await statuses('before-49')).toEqual(['accepted', 'cancelled']);
    expect(await statuses('turn:reduce')).toEqual(['accepted', 'sending', 'placed']);
    expect(await statuses('turn')).toEqual(['accepted', 'sending', 'placed']);
    expect((await lastStep('all'))?.status).toBe('cancelled');
  });

  test('is not withdrawn by a cancellation that is stale', async () => {
    await leaveBehind(buyAlert({ time: new Date(relay.clock.nowMs()).toISOString(), maxLag: 3600 }));
    await leaveBehind(alert({ id: 'stop', action: 'cancel', signalId: 'buy-1' }));
    relay.clock.advance(2 * minuteMs);

    await relay.execute('stop');

    expect(await statuses('stop')).toEqual(['accepted', 'denied']);
    expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'placed']);
    expect(relay.alarms).toMatchObject([{ signalId: 'stop' }]);
  });

  test('is placed before a later one of its market', async () => {
    await leaveBehind(buyAlert({ id: 'older' }), buyAlert({ id: 'other', ticker: 'ETHUSDT' }));

    await relay.send(buyAlert({ id: 'newer' }));

    expect(ordersAtTheExchange()).toEqual([
      `${clientOrderIdOf('main', 'older')} open`,
      `${clientOrderIdOf('main', 'newer')} open`,
    ]);
    expect(await statuses('other')).toEqual(['accepted']);
  });

  test('is denied with an alarm if it cannot be executed, and the later one is executed', async () => {
    await leaveBehind(buyAlert({ id: 'poisoned' }), buyAlert({ id: 'newer', quantity: '0.02' }));
    const { services } = relay;
    const markets = override(services.markets, {
      find: async (name) => {
        const { status } = await relay.entry('poisoned');
        if (status === 'accepted') throw new TypeError('a fault of the relay');
        return await services.markets.find(name);
      },
    });

    await relay.executeWith({ ...services, markets }, 'newer');

    expect(await lastStep('poisoned')).toMatchObject({
      status: 'denied',
      evidence: { rule: 'overtaken', actual: 'unexpected failure' },
    });
    expect(await statuses('newer')).toEqual(['accepted', 'sending', 'placed']);
    expect(relay.alarms).toMatchObject([{ signalId: 'poisoned' }]);
  });

  test('raises no alarm when another worker has settled it meanwhile', async () => {
    await leaveBehind(buyAlert({ id: 'older' }), buyAlert({ id: 'newer', quantity: '0.02' }));
    const { services } = relay;
    let isFirst = true;
    const markets = override(services.markets, {
      find: async (name) => {
        if (!isFirst) return await services.markets.find(name);
        isFirst = false;
        await relay.execute('older');
        // As far as this worker knows, the order must be denied.
        return null;
      },
    });

    await relay.executeWith({ ...services, markets }, 'newer');

    expect(await statuses('older')).toEqual(['accepted', 'sending', 'placed']);
    expect(await statuses('newer')).toEqual(['accepted', 'sending', 'placed']);
    expect(relay.alarms).toEqual([]);
  });

  test('delays the later one while the store fails', async () => {
    await leaveBehind(buyAlert({ id: 'older' }), buyAlert({ id: 'newer' }));
    const { services } = relay;
    const ledger = override(services.ledger, {
      start: async () => {
        throw new RelayError('store_unavailable', 'no disk');
      },
    });

    const execution = relay.executeWith({ ...services, ledger }, 'newer');

    await expect(execution).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await statuses('older')).toEqual(['accepted']);
    expect(await statuses('newer')).toEqual(['accepted']);
    expect(relay.asked).not.toContain(createPath);
  });

  test('is executed in order among very many, some with each delivery', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `s-${index}`);
    await leaveBehind(...ids.map((id) => buyAlert({ id })));
    const { services } = relay;
    const slow = override(services.markets, {
      find: async (name) => {
        relay.clock.advance(1000);
        return await services.markets.find(name);
      },
    });

    const execution = relay.executeWith({ ...services, markets: slow }, 's-59');

    await expect(execution).rejects.toMatchObject({ code: 'earlier_signals_wait' });
    const placed = relay.paper.control.state().orders.map(({ clientOrderId }) => clientOrderId);
    expect(placed).toEqual(ids.slice(0, 5).map((id) => clientOrderIdOf('main', id)));
    expect(await statuses('s-59')).toEqual(['accepted']);
  });
});

test('an order that waits behind a full page of other signals is not sent after its cancellation', async () => {
  const cancels = Array.from({ length: 50 }, (_, index) =>
    alert({ id: `c-${index}`, action: 'cancel', signalId: 'nobody' }),
  );
  await leaveBehind(...cancels, buyAlert(), alert({ id: 'all', action: 'cancel_all' }));

  await expect(relay.execute('all')).rejects.toMatchObject({ code: 'earlier_signals_wait' });
  await relay.execute('all');
  await relay.execute('buy-1');

  expect(await statuses('all')).toEqual(['accepted', 'sending', 'cancelled']);
  expect(await statuses('buy-1')).toEqual(['accepted', 'cancelled']);
  expect(relay.asked).not.toContain(createPath);
});

test('a worker that was taken for dead does not try its order again', async () => {
  await relay.begin();
  const key = await relay.receive(buyAlert());
  relay.paper.control.addFault({ fault: 'down', durationMs: 3_600_000 });
  const { services } = relay;
  const takeOver = async () => {
    const entry = await relay.entry('buy-1');
    const step: Step = { status: 'unknown', atMs: relay.clock.nowMs(), note: 'taken over' };
    if (entry.status === 'sending') await services.ledger.move(key, { from: 'sending', step });
  };
  const clock = override(relay.clock, {
    sleep: async (pauseMs) => {
      await takeOver();
      await relay.clock.sleep(pauseMs);
    },
  });
  const exchangeFor = async () =>
    createExchangeClient({
      address: relay.paper.url,
      dialect: 'live',
      credentials: { apiKey: 'paper-key', apiSecret: 'paper-secret' },
      clock,
      random: () => 0,
      transport: relay.transport,
    });

  await relay.executeWith({ ...services, exchangeFor }, 'buy-1');

  expect(relay.asked.filter((path) => path === createPath)).toHaveLength(1);
  expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'unknown', 'not_sent']);
});

test('a cancel_all cancels an earlier order whose outcome could not be stored', async () => {
  await leaveBehind(buyAlert(), alert({ id: 'next', action: 'cancel', signalId: 'nobody' }));
  const { services } = relay;
  const ledger = override(services.ledger, {
    move: async (key, move) => {
      if (key.signalId === 'buy-1') throw new RelayError('store_unavailable', 'no disk');
      return await services.ledger.move(key, move);
    },
  });
  const first = relay.executeWith({ ...services, ledger }, 'next');
  await expect(first).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(ordersAtTheExchange()).toEqual([`${clientOrderIdOf('main', 'buy-1')} open`]);

  await relay.execute('next');
  await relay.send(alert({ id: 'all', action: 'cancel_all' }));
  await relay.reconcileFor(3);

  expect(await statuses('all')).toEqual(['accepted', 'sending', 'cancelled']);
  expect(ordersAtTheExchange()).toEqual([`${clientOrderIdOf('main', 'buy-1')} cancelled`]);
  expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'unknown', 'placed']);
  expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: false });
});

test.each([
  ['a cancel_all', { action: 'cancel_all' }, 'cancelled'],
  ['a cancellation', { action: 'cancel', signalId: 'buy-1' }, 'rejected'],
])(
  '%s that does not find an order is unknown while the order may still arrive, and settled afterwards',
  async (_, fields, end) => {
    await relay.send(buyAlert(), { fault: 'drop_before' });
    expect((await relay.send(alert({ id: 'soon', ...fields }))).status).toBe('unknown');
    expect(relay.alarms.map(({ signalId }) => signalId)).toEqual(['buy-1', 'soon']);

    relay.clock.advance(10 * minuteMs);
    expect((await relay.send(alert({ id: 'late', ...fields }))).status).toBe(end);
    expect(relay.alarms).toHaveLength(2);
  },
);

describe('a cancellation', () => {
  test('of an order that another worker is sending is sent to the exchange', async () => {
    const key = await relay.receive(buyAlert());
    const sending: Step = { status: 'sending', atMs: relay.clock.nowMs(), note: 'by another' };
    await relay.services.ledger.start(key, sending, null);

    await relay.send(alert({ id: 'stop', action: 'cancel', signalId: 'buy-1' }));

    expect(await statuses('buy-1')).toEqual(['accepted', 'sending']);
    expect(relay.asked).toContain(cancelPath);
    // Its order is not there yet, and may still arrive.
    expect(await statuses('stop')).toEqual(['accepted', 'sending', 'unknown']);
    expect(relay.alarms).toMatchObject([{ signalId: 'stop', status: 'unknown' }]);
  });

  test('by its client order id, of an order that may still arrive, is unknown', async () => {
    await relay.send(buyAlert(), { fault: 'drop_before' });
    const clientOrderId = clientOrderIdOf('main', 'buy-1');

    await relay.send(alert({ id: 'stop', action: 'cancel', clientOrderId }));

    expect(await relay.entry('stop')).toMatchObject({ status: 'unknown' });
  });

  test.each([
    ['a moment ago', 59, 'unknown'],
    ['a minute ago', 61, 'rejected'],
  ])(
    'of an order that the exchange does not have and whose response was lost, sent %s',
    async (_, seconds, status) => {
      await relay.send(buyAlert(), { fault: 'drop_before' });
      relay.clock.advance(seconds * 1000);

      await relay.send(alert({ id: 'stop', action: 'cancel', signalId: 'buy-1' }));

      expect(await relay.entry('stop')).toMatchObject({ status });
    },
  );

  test('that is delivered again after it has withdrawn its order gets the same outcome', async () => {
    await leaveBehind(buyAlert(), alert({ id: 'stop', action: 'cancel', signalId: 'buy-1' }));
    const { services } = relay;
    const ledger = override(services.ledger, {
      move: async (key, move) => {
        if (key.signalId === 'stop') throw new RelayError('store_unavailable', 'the process died here');
        return await services.ledger.move(key, move);
      },
    });
    const first = relay.executeWith({ ...services, ledger }, 'stop');
    await expect(first).rejects.toMatchObject({ code: 'store_unavailable' });

    await relay.execute('stop');

    expect(await statuses('stop')).toEqual(['accepted', 'cancelled']);
    expect(await lastStep('stop')).toMatchObject({
      note: 'signal "buy-1" was cancelled before: nothing was sent',
    });
  });

  test.each([
    ['names no signal of the ledger', { signalId: 'nobody' }, ['accepted', 'denied'], 1],
    ['names an order that is no longer open', { orderId: 1 }, ['accepted', 'sending', 'rejected'], 0],
  ])('that %s: there is an alarm only if an order may be open', async (_, target, expected, alarms) => {
    await relay.send(alert({ id: 'stop', action: 'cancel', ...target }));

    expect(await statuses('stop')).toEqual(expected);
    expect(relay.alarms).toHaveLength(alarms);
  });

  test('that does not reach the exchange is an alarm', async () => {
    await relay.send(buyAlert());
    await relay.send(alert({ id: 'stop', action: 'cancel', signalId: 'buy-1' }), {
      fault: 'down',
      durationMs: 3_600_000,
    });

    expect(await statuses('stop')).toEqual(['accepted', 'sending', 'not_sent']);
    expect(relay.alarms).toMatchObject([{ signalId: 'stop' }]);
  });
});

test('an order waits while another worker is just beginning to send an earlier one', async () => {
  await leaveBehind(buyAlert({ id: 'first' }), buyAlert({ id: 'second' }));
  const { ledger } = relay.services;
  const beaten = override(ledger, {
    async start(key, step, limit) {
      // The other worker, to which the same message was delivered.
      if (key.signalId === 'first') await ledger.start(key, step, limit);
      return await ledger.start(key, step, limit);
    },
  });

  await expect(
    relay.executeWith(override(relay.services, { ledger: beaten }), 'second'),
  ).rejects.toMatchObject({ code: 'earlier_signals_wait' });

  expect(await statuses('second')).toEqual(['accepted']);
  expect(relay.asked).not.toContain(createPath);
});
