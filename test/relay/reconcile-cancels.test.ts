import { afterEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { FaultKind } from '../../lib/paper/faults/fault-rows.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

let relay: Aftermath;
afterEach(async () => {
  const { acceptedCreates } = relay.paper.control.state();
  await relay.close();
  expect(acceptedCreates).toBe(placed);
});

/** The number of orders that the test placed; nothing else may place any. */
let placed = 0;

async function open(dialect: Dialect = 'live'): Promise<void> {
  relay = await openAftermath(dialect);
  placed = 0;
}

async function place(id: string, changes: Record<string, unknown> = {}): Promise<Entry> {
  placed += 1;
  return await relay.send(buyAlert({ id, ...changes }));
}

/** Sends a cancellation whose response is lost, before or after the exchange has cancelled. */
async function loseCancel(fields: object, fault: FaultKind): Promise<void> {
  const alert = JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', ...fields });
  const entry = await relay.send(alert, { fault, endpoint: 'cancel-order', probability: 1 });
  expect(entry).toMatchObject({ status: 'unknown', clientOrderId: null });
  relay.paper.control.clearFaults();
}

const undo = () => relay.entry('undo');
const lastStep = async () => (await undo()).steps.at(-1);
const openIds = async () =>
  (await relay.services.ledger.openOrders('main', 'BTC_USDT', 100)).map(({ signalId }) => signalId);

const ways: Readonly<Record<string, (placedBy: Entry) => object>> = {
  "the signal's id": ({ signalId }) => ({ action: 'cancel', signalId }),
  'the client order id': ({ clientOrderId }) => ({ action: 'cancel', clientOrderId }),
  "the exchange's id": ({ orderId }) => ({ action: 'cancel', orderId }),
};

describe.each(Object.keys(ways))('a cancellation by %s whose response was lost', (way) => {
  async function lose(fault: FaultKind): Promise<void> {
    await open();
    const placedBy = await place('buy-1');
    await loseCancel(ways[way]?.(placedBy) ?? {}, fault);
  }

  test('is cancelled when the order is found cancelled', async () => {
    await lose('error_after');

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1, settled: 1 });

    expect(await undo()).toMatchObject({ status: 'cancelled', orderOpen: false });
    expect(await lastStep()).toMatchObject({
      by: 'reconcile-signals',
      note: 'the order is cancelled',
      evidence: { target: { state: 'cancelled', order: { orderId: 10_000_000_001 } } },
    });
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed' });
  });

  test('is rejected when the order was filled first', async () => {
    await lose('error_before');
    relay.setPrice('50150');

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect(await lastStep()).toMatchObject({
      note: 'the order was filled before it could be cancelled',
      facts: { wasGone: true },
    });
  });

  test('is rejected when repeated lookups find the order open', async () => {
    await lose('error_before');

    await relay.reconcileFor(6);
    expect(await undo()).toMatchObject({ status: 'unknown', lookup: { notFound: 3 } });
    await relay.reconcileFor(1);

    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect(await lastStep()).toMatchObject({
      note: 'the order is still open: it was not cancelled',
      evidence: { notFound: 4, found: { target: { state: 'open' } } },
    });
    expect(await openIds()).toEqual(['buy-1']);
  });

  test('is cancelled when the lists show it late', async () => {
    await lose('error_after');
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 3 * minuteMs, probability: 1 });

    await relay.reconcileFor(3);

    expect(await undo()).toMatchObject({ status: 'cancelled', lookup: { notFound: 2 } });
  });
});

describe('a cancellation whose response was lost', () => {
  test('closes the ledger entry of the order once it is found to have ended', async () => {
    await open();
    await place('buy-1');
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');
    expect(await openIds()).toEqual(['buy-1']);

    await relay.reconcile();

    expect(await openIds()).toEqual([]);
  });

  test('leaves an order whose outcome is unknown open, so that later signals wait for it', async () => {
    await open();
    placed = 1;
    await relay.send(buyAlert({ id: 'buy-1' }), { fault: 'drop_after', endpoint: 'stop-limit' });
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 10 * minuteMs, probability: 1 });
    await relay.reconcileFor(3);
    relay.paper.control.clearFaults();
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1, settled: 1 });

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'unknown' });
    expect(await openIds()).toEqual(['buy-1']);
    await relay.reconcileFor(5);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed' });
    expect(await openIds()).toEqual([]);
  });

  test('of an order that does not exist is rejected after as many lookups', async () => {
    await open();
    await loseCancel({ action: 'cancel', clientOrderId: 'tr-of-nobody' }, 'error_before');

    await relay.reconcileFor(6);
    expect(await undo()).toMatchObject({ status: 'unknown' });
    await relay.reconcileFor(1);

    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect((await lastStep())?.note).toBe(
      'the order is neither open nor in the history: nothing proves that it was cancelled',
    );
  });

  test.each([
    ['error_after', { status: 'cancelled' }],
    ['error_before', { status: 'rejected' }],
  ] as const)('of an order by hand is looked up by the id of the exchange (%s)', async (fault, outcome) => {
    await open();
    placed += 1;
    const client = await relay.services.exchangeFor('main');
    const [amount, price] = [parseDecimal('0.01'), parseDecimal('40000')];
    const byHand = { market: 'BTC_USDT', side: 'buy', amount, price, clientOrderId: '' } as const;
    const { orderId } = await client.call(limitEndpoint, byHand);
    await loseCancel({ action: 'cancel', orderId }, fault);

    await relay.reconcileFor(7);

    expect(await undo()).toMatchObject(outcome);
  });

  test('of an order that no list shows stays unknown, with alarms', async () => {
    await open();
    await loseCancel({ action: 'cancel', orderId: 77 }, 'error_before');

    await relay.reconcileFor(60);

    expect(await undo()).toMatchObject({ status: 'unknown', lookup: { notFound: 0 } });
    expect(relay.alarms).toHaveLength(5);
  });

  test('by order id stores which signal placed the order, even if its entry is closed meanwhile', async () => {
    await open();
    const { orderId } = await place('buy-1');
    await loseCancel({ action: 'cancel', orderId }, 'error_after');
    await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
  });

  test('is cancelled when an order that was placed long ago is in no list', async () => {
    await open();
    await place('buy-1');
    relay.clock.advance(10 * minuteMs);
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');
    // As a service responds that does not list orders cancelled before any fill.
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 60 * minuteMs, probability: 1 });

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect((await lastStep())?.note).toBe('the order is no longer open; no list shows how it ended');
    expect(await openIds()).toEqual([]);
  });

  test('does not concern the order that the same alert placed after it', async () => {
    await open();
    await place('old');
    const alert = [
      { id: 'undo', ticker: 'BTCUSDT', action: 'cancel_all' },
      JSON.parse(buyAlert({ id: 'new' })) as object,
    ];
    await relay.receiveAll(JSON.stringify(alert));
    relay.paper.control.addFault({ fault: 'error_after', endpoint: 'cancel-order', probability: 1 });
    await relay.execute('undo');
    relay.paper.control.clearFaults();
    placed += 1;
    await relay.execute('new');

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await openIds()).toEqual(['new']);
  });

  test('is settled in the documented dialect only if the order waits with its stop-loss and take-profit', async () => {
    await open('documented');
    await place('buy-1');
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_before');
    await relay.reconcileFor(7);
    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect((await lastStep())?.note).toBe('the order is still open: it was not cancelled');
  });

  test('stays unknown when the documented dialect no longer lists the order: it may be filled or cancelled', async () => {
    await open('documented');
    await place('buy-1');
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');

    await relay.reconcileFor(30);

    expect(await undo()).toMatchObject({
      status: 'unknown',
      lookup: { notFound: 0, finding: expect.stringMatching(/^the order is not listed/) },
    });
    expect(await openIds()).toEqual(['buy-1']);
  });
});

describe('a cancel_all whose responses were lost', () => {
  const cancelAll = { action: 'cancel_all' };

  test('is cancelled when none of its orders is still open, however each ended', async () => {
    await open();
    await place('buy-1');
    await place('buy-2', {
      stopPrice: '60000',
      limitPrice: '60100',
      stopLoss: undefined,
      takeProfit: undefined,
    });
    await loseCancel(cancelAll, 'error_after');

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1, settled: 1 });

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await lastStep()).toMatchObject({
      note: 'none of its orders is still open',
      evidence: { targets: [{ state: 'cancelled' }, { state: 'cancelled' }] },
    });
    expect(await openIds()).toEqual([]);
  });

  test('is rejected when orders stay open, and its note says how many', async () => {
    await open();
    await place('buy-1');
    await place('buy-2', {
      stopPrice: '60000',
      limitPrice: '60100',
      stopLoss: undefined,
      takeProfit: undefined,
    });
    await loseCancel(cancelAll, 'error_before');
    relay.setPrice('50150');

    await relay.reconcileFor(7);

    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect((await lastStep())?.note).toBe('1 of its orders are still open: send another cancellation');
    expect(await openIds()).toEqual(['buy-2']);
  });

  test('is not affected by orders that came after it', async () => {
    await open();
    await place('buy-1');
    await loseCancel(cancelAll, 'error_after');
    relay.clock.advance(1000);
    await place('buy-2');

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await openIds()).toEqual(['buy-2']);
  });

  test('is cancelled when another cancellation has closed its orders since', async () => {
    await open();
    await place('buy-1');
    await loseCancel(cancelAll, 'error_before');
    await relay.send(JSON.stringify({ id: 'again', ticker: 'BTCUSDT', action: 'cancel_all' }));

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
  });

  test('of more orders than one lookup takes continues where the previous lookup ended', async () => {
    await open();
    for (let count = 1; count <= 30; count += 1)
      await place(`buy-${count}`, { quantity: '0.001', stopLoss: undefined, takeProfit: undefined });
    await loseCancel(cancelAll, 'error_after');

    await relay.reconcile();
    expect(await undo()).toMatchObject({
      status: 'unknown',
      lookup: { notFound: 0, finding: 'none of 25 orders is open; 5 more are still to be looked up' },
    });
    expect(await openIds()).toHaveLength(5);
    await relay.reconcileFor(1);

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await openIds()).toEqual([]);
  });

  test('stays unknown while the documented dialect does not list one of its orders', async () => {
    await open('documented');
    await place('buy-1');
    await loseCancel(cancelAll, 'error_after');

    await relay.reconcileFor(30);

    expect(await undo()).toMatchObject({ status: 'unknown', lookup: { notFound: 0 } });
  });
});

describe('a cancellation with a response', () => {
  test('proves that an order existed whose own response was lost', async () => {
    await open('documented');
    placed += 1;
    const plain = buyAlert({ id: 'buy-1', stopLoss: undefined, takeProfit: undefined });
    expect(await relay.send(plain, { fault: 'drop_after', endpoint: 'stop-limit' })).toMatchObject({
      status: 'unknown',
    });

    await relay.send(JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', action: 'cancel_all' }));

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await relay.entry('buy-1')).toMatchObject({
      status: 'placed',
      orderId: 10_000_000_001,
      orderOpen: false,
    });
    expect((await relay.entry('buy-1')).steps.at(-1)?.note).toBe(
      'a cancellation found its order 10000000001: it existed, and is cancelled',
    );
  });
});

test('a cancel_all with a lost response includes its orders even if they were sent before the clock was set back', async () => {
  await open();
  await place('buy-1');
  await place('buy-2', { quantity: '0.02' });
  relay.clock.advance(-3 * minuteMs);
  await loseCancel({ action: 'cancel_all' }, 'drop_before');

  await relay.reconcileFor(10);

  expect(await undo()).toMatchObject({ status: 'rejected' });
  expect(await lastStep()).toMatchObject({
    note: '2 of its orders are still open: send another cancellation',
  });
  expect(await openIds()).toEqual(['buy-2', 'buy-1']);
});
