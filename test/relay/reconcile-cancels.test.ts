import { afterEach, describe, expect, test } from '@jest/globals';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import type { FaultKind } from '../../lib/paper/faults.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

let relay: Aftermath;
afterEach(async () => {
  const { acceptedCreates } = relay.paper.control.state();
  await relay.close();
  expect(acceptedCreates).toBe(placed);
});

/** How many orders the test placed: nothing else may place any. */
let placed = 0;

async function open(dialect: Dialect = 'live'): Promise<void> {
  relay = await openAftermath(dialect);
  placed = 0;
}

async function place(id: string, changes: Record<string, unknown> = {}): Promise<Entry> {
  placed += 1;
  return await relay.send(buyAlert({ id, ...changes }));
}

/** Sends a cancellation to an exchange that is out of order, before or after it has cancelled. */
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

  test('is refused when the order was executed first', async () => {
    await lose('error_before');
    relay.setPrice('50150');

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect((await lastStep())?.note).toBe('the order was executed before it could be cancelled');
  });

  test('is refused when the order is open, look after look', async () => {
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
  test('closes in the ledger the order that is found gone', async () => {
    await open();
    await place('buy-1');
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');
    expect(await openIds()).toEqual(['buy-1']);

    await relay.reconcile();

    expect(await openIds()).toEqual([]);
  });

  test('of an order that nobody has is refused after as many looks', async () => {
    await open();
    await loseCancel({ action: 'cancel', clientOrderId: 'tr-of-nobody' }, 'error_before');

    await relay.reconcileFor(6);
    expect(await undo()).toMatchObject({ status: 'unknown' });
    await relay.reconcileFor(1);

    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect((await lastStep())?.note).toBe(
      'neither among the open nor the ended orders: nothing shows that it was cancelled',
    );
  });

  test('of an order that is none of the ledger stays unknown, with alarms: the lists know names, not numbers', async () => {
    await open();
    await loseCancel({ action: 'cancel', orderId: 77 }, 'error_before');

    await relay.reconcileFor(60);

    expect(await undo()).toMatchObject({ status: 'unknown', lookup: { notFound: 0 } });
    expect(relay.alarms).toHaveLength(5);
  });

  test('by number keeps whose order it was, whoever closes that order meanwhile', async () => {
    await open();
    const { orderId } = await place('buy-1');
    await loseCancel({ action: 'cancel', orderId }, 'error_after');
    await relay.services.ledger.closeOrder({ account: 'main', signalId: 'buy-1' });

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
  });

  test('is done when an order that was there for long is in no list at all', async () => {
    await open();
    await place('buy-1');
    relay.clock.advance(10 * minuteMs);
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');
    // As a service would that leaves out what was cancelled before anything was executed.
    relay.paper.control.addFault({ fault: 'read_lag', delayMs: 60 * minuteMs, probability: 1 });

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect((await lastStep())?.note).toBe('the order is open no more; no list tells how it ended');
    expect(await openIds()).toEqual([]);
  });

  test('takes the order that the same alert placed after it for none of its own', async () => {
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

  test('is settled by the written API only if the order waits with its exits', async () => {
    await open('documented');
    await place('buy-1');
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_before');
    await relay.reconcileFor(7);
    expect(await undo()).toMatchObject({ status: 'rejected' });
    expect((await lastStep())?.note).toBe('the order is still open: it was not cancelled');
  });

  test('stays unknown when the written API shows the order no more: it may be filled or cancelled', async () => {
    await open('documented');
    await place('buy-1');
    await loseCancel({ action: 'cancel', signalId: 'buy-1' }, 'error_after');

    await relay.reconcileFor(30);

    expect(await undo()).toMatchObject({
      status: 'unknown',
      lookup: { notFound: 0, finding: expect.stringMatching(/^not among the orders that are listed/) },
    });
    expect(await openIds()).toEqual(['buy-1']);
  });
});

describe('a cancel_all whose responses were lost', () => {
  const cancelAll = { action: 'cancel_all' };

  test('is done when none of its orders is open any more, however each ended', async () => {
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
      note: 'no order of it is open any more',
      evidence: { targets: [{ state: 'cancelled' }, { state: 'cancelled' }] },
    });
    expect(await openIds()).toEqual([]);
  });

  test('is refused when orders stay open, and says how many', async () => {
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
    expect((await lastStep())?.note).toBe('1 of its orders are still open: send another cancel');
    expect(await openIds()).toEqual(['buy-2']);
  });

  test('does not mind orders that came after it', async () => {
    await open();
    await place('buy-1');
    await loseCancel(cancelAll, 'error_after');
    relay.clock.advance(1000);
    await place('buy-2');

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await openIds()).toEqual(['buy-2']);
  });

  test('is done when another cancellation has closed its orders since', async () => {
    await open();
    await place('buy-1');
    await loseCancel(cancelAll, 'error_before');
    await relay.send(JSON.stringify({ id: 'again', ticker: 'BTCUSDT', action: 'cancel_all' }));

    await relay.reconcile();

    expect(await undo()).toMatchObject({ status: 'cancelled' });
  });

  test('of more orders than one look takes goes on where the look before ended', async () => {
    await open();
    for (let count = 1; count <= 30; count += 1)
      await place(`buy-${count}`, { quantity: '0.001', stopLoss: undefined, takeProfit: undefined });
    await loseCancel(cancelAll, 'error_after');

    await relay.reconcile();
    expect(await undo()).toMatchObject({
      status: 'unknown',
      lookup: { notFound: 0, finding: 'of 25 orders none is open; 5 more are to be looked for yet' },
    });
    expect(await openIds()).toHaveLength(5);
    await relay.reconcileFor(1);

    expect(await undo()).toMatchObject({ status: 'cancelled' });
    expect(await openIds()).toEqual([]);
  });

  test('stays unknown while the written API does not show one of its orders', async () => {
    await open('documented');
    await place('buy-1');
    await loseCancel(cancelAll, 'error_after');

    await relay.reconcileFor(30);

    expect(await undo()).toMatchObject({ status: 'unknown', lookup: { notFound: 0 } });
  });
});

describe('a cancellation that is answered', () => {
  test('proves that an order whose own response was lost was there', async () => {
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
      'its order 10000000001 answered to a cancellation: it was there, and is cancelled',
    );
  });
});

test('a cancel_all that was lost is about its orders also when they were sent by a clock set back since', async () => {
  await open();
  await place('buy-1');
  await place('buy-2', { quantity: '0.02' });
  relay.clock.advance(-3 * minuteMs);
  await loseCancel({ action: 'cancel_all' }, 'drop_before');

  await relay.reconcileFor(10);

  expect(await undo()).toMatchObject({ status: 'rejected' });
  expect(await lastStep()).toMatchObject({ note: '2 of its orders are still open: send another cancel' });
  expect(await openIds()).toEqual(['buy-2', 'buy-1']);
});
