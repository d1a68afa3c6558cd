import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

const always = (fault: FaultRequest['fault'], endpoint: string) =>
  relay.paper.control.addFault({ fault, endpoint, probability: 1 });
const alarmNames = () => relay.alarms.map(({ name }) => name);
const noteOf = async (signalId: string) => (await relay.entry(signalId)).steps.at(-1)?.note;

/** A position of 0.02 with a stop-loss and a take-profit. */
const entry = () =>
  JSON.stringify({
    id: 'entry-1',
    ticker: 'BTCUSDT',
    action: 'buy',
    orderType: 'market',
    maxSlippage: '0.1%',
    quantity: '0.02',
    stopLoss: '2%',
    takeProfit: '4%',
  });
const close = JSON.stringify({ id: 'close-1', ticker: 'BTCUSDT', action: 'close', maxSlippage: '1%' });

describe('an order whose response was lost', () => {
  test('is not called not placed while a record cannot be read', async () => {
    await relay.send(buyAlert({ id: 'other' }));
    await relay.send(buyAlert(), { fault: 'drop_after', endpoint: 'stop-limit' });
    always('unreadable_record', 'open-order');

    await relay.reconcileFor(30);

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'unknown' });
    expect(alarmNames()).toContain('record_unreadable');
    relay.paper.control.clearFaults();
    await relay.reconcileFor(20);
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: true });
  });

  test('is found by a record whose word nobody knows', async () => {
    await relay.send(buyAlert(), { fault: 'drop_after', endpoint: 'stop-limit' });
    always('unknown_word', 'open-order');

    await relay.reconcileFor(5);

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'placed', orderOpen: true });
    expect(alarmNames()).toEqual(['outcome_unknown', 'unknown_word']);
  });
});

describe('a close', () => {
  beforeEach(async () => {
    await relay.send(entry());
    relay.clock.advance(15_000);
    await relay.follow();
  });

  test('is not sized on a list of positions with a record that cannot be read', async () => {
    always('unreadable_record', 'open-positions');

    await expect(relay.send(close)).rejects.toMatchObject({ code: 'position_awaited' });

    expect((await relay.entry('close-1')).status).toBe('accepted');
    expect(relay.paper.control.state().acceptedCreates).toBe(1);
    expect(alarmNames()).toContain('record_unreadable');
  });

  test('cancels the exits beside a conditional order of an unknown kind, and says that one may be left', async () => {
    always('odd_group', 'conditional-orders');

    await relay.send(close);

    expect(await relay.entry('close-1')).toMatchObject({
      status: 'placed',
      steps: expect.arrayContaining([
        expect.objectContaining({ evidence: expect.objectContaining({ leftExits: null }) }),
      ]),
    });
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual([
      'filled',
      'cancelled',
      'cancelled',
      'filled',
    ]);
    expect(alarmNames()).toEqual(['record_unreadable', 'orders_left_open']);
  });

  test('cancels exits whose words nobody knows', async () => {
    always('unknown_word', 'conditional-orders');

    await relay.send(close);

    expect(await noteOf('close-1')).toContain('orders that only protected it are cancelled: OCO');
    expect(alarmNames()).toEqual(['unknown_word']);
  });
});

describe('a cancel_all', () => {
  const cancelAll = (scope: string) =>
    JSON.stringify({ id: 'all', ticker: 'BTCUSDT', action: 'cancel_all', scope });

  test('of the whole market cancels pairs beside a conditional order of an unknown kind, and its outcome is unknown', async () => {
    await relay.send(entry());
    always('odd_group', 'conditional-orders');

    await relay.send(cancelAll('market'));

    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual([
      'filled',
      'cancelled',
      'cancelled',
    ]);
    expect(await relay.entry('all')).toMatchObject({ status: 'unknown' });

    await relay.reconcileFor(15);
    expect(await relay.entry('all')).toMatchObject({ status: 'unknown' });
    relay.paper.control.clearFaults();
    await relay.reconcileFor(30);
    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
  });

  test('closes no entry that the list of open orders may hide', async () => {
    await relay.send(buyAlert());
    relay.clock.advance(20 * minuteMs);
    always('unreadable_record', 'open-order');

    await relay.send(cancelAll('own'));

    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
    expect(await relay.entry('all')).toMatchObject({ status: 'cancelled' });
  });
});
