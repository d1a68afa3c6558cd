import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { limit as limitEndpoint } from '../../lib/exchange/endpoints/limit.ts';
import { readRestoredAt } from '../../lib/ledger/account-facts.ts';
import { isSignal } from '../../lib/ledger/entry.ts';
import type { Side } from '../../lib/model/order.ts';
import { ClearedEntries } from '../../lib/relay/position/cleared-entries.ts';
import { createSentBefore } from '../../lib/relay/settle/sent-before.ts';
import { clientOrderIdOf } from '../../lib/signals/identity.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { openKeptRelay } from '../support/kept-relay.ts';

const historyPath = '/api/v4/trade-account/order/history';
const hourMs = 60 * minuteMs;
const market = { ticker: 'BTCUSDT', orderType: 'market', maxSlippage: '1%' };
const buy = (id: string, fields: object = {}) =>
  JSON.stringify({ id, action: 'buy', quantity: '0.01', ...market, ...fields });

describe('a relay whose folder was restored', () => {
  let relay: Aftermath;
  let restoredAtMs: number;

  beforeEach(async () => {
    relay = await openAftermath();
    restoredAtMs = relay.clock.nowMs();
    await restoreAt(restoredAtMs);
  });
  afterEach(() => relay.close());

  async function restoreAt(atMs: number): Promise<void> {
    const { services } = relay;
    await services.facts.write('main', 'restored', { atMs });
    Object.assign(services, {
      settleSentBefore: createSentBefore(services, await readRestoredAt(services.facts, ['main', 'slow'])),
    });
  }

  /** As the lost relay sent it after the backup: it has filled. */
  async function sendBefore(signalId: string, side: Side = 'buy'): Promise<void> {
    const client = await relay.services.exchangeFor('main');
    const price = parseDecimal(side === 'buy' ? '60000' : '40000');
    const clientOrderId = clientOrderIdOf('main', signalId);
    await client.call(limitEndpoint, {
      market: 'BTC_USDT',
      side,
      amount: parseDecimal('0.01'),
      price,
      clientOrderId,
    });
  }

  const orders = () => relay.paper.control.state().orders.length;
  const lookups = () => relay.asked.filter((path) => path === historyPath).length;
  const unknownAlarms = () => relay.alarms.filter(({ name }) => name === 'outcome_unknown');

  test('takes an order that the lost relay had sent for what it is, and sends none', async () => {
    await sendBefore('again');

    const entry = await relay.send(buy('again'));

    expect(entry).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: false });
    expect(entry.steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'placed']);
    expect(entry.steps[1]?.note).toMatch(/the lost relay may have sent it/);
    expect(entry.steps.at(-1)?.note).toMatch(/^found at the exchange as order 10000000001, filled/);
    expect([orders(), relay.alarms]).toEqual([1, []]);
    await relay.follow();
    expect(await relay.entry('again')).toMatchObject({ execution: { orders: [{ status: 'filled' }] } });
  });

  test('sends an order that the exchange does not have, after one lookup', async () => {
    expect(await relay.send(buy('new'))).toMatchObject({ status: 'placed' });
    expect([orders(), lookups()]).toEqual([1, 1]);
  });

  test('sends no close again: it would close what was opened after it', async () => {
    await sendBefore('entry');
    await sendBefore('flat', 'sell');
    relay.clock.advance(minuteMs);
    await relay.send(buy('newer', { stopLoss: '48000' }));
    relay.clock.advance(minuteMs);

    const entry = await relay.send(JSON.stringify({ id: 'flat', action: 'close', ...market }));
    expect(entry).toMatchObject({ status: 'placed', orderId: 10_000_000_002 });
    expect(relay.paper.control.state().orders.map(({ status, side }) => `${side} ${status}`)).toEqual([
      'buy filled',
      'sell filled',
      'buy filled',
      // The stop-loss of what is held now.
      'sell open',
    ]);
    expect(relay.alarms).toEqual([]);
  });

  test('sends no close of before that had left no order: it would close what was opened after it', async () => {
    const time = new Date(relay.clock.nowMs()).toISOString();
    await sendBefore('entry');
    await restoreAt(relay.clock.nowMs() + minuteMs);

    const close = { id: 'flat', action: 'close', time, ...market };
    const entry = await relay.send(JSON.stringify(close));
    expect(entry).toMatchObject({ status: 'unknown' });
    expect([orders(), unknownAlarms().length]).toEqual([1, 1]);

    await relay.reconcileFor(20);
    expect(await relay.entry('flat')).toMatchObject({ status: 'not_placed' });
    expect(orders()).toBe(1);
  });

  test('tells which resting entries such a close has cancelled', async () => {
    await sendBefore('entry');
    await sendBefore('flat', 'sell');
    relay.clock.advance(minuteMs);
    await relay.send(buy('newer'));
    await relay.send(buy('rests', { orderType: 'limit', limitPrice: '40000', maxSlippage: undefined }));
    relay.clock.advance(minuteMs);

    const entry = await relay.send(JSON.stringify({ id: 'flat', action: 'close', ...market }));
    expect(entry).toMatchObject({ status: 'placed', orderId: 10_000_000_002 });
    expect(entry.steps[1]).toMatchObject({
      note: expect.stringContaining('its resting entries are cancelled: "rests"'),
      facts: { placedBy: ['rests'] },
    });
  });

  test('does not reverse back what a reversal has reversed; which order that was, its owner must see', async () => {
    await sendBefore('entry');
    await sendBefore('turn:reduce', 'sell');
    await sendBefore('turn', 'sell');

    await relay.receiveAll(JSON.stringify({ id: 'turn', action: 'reverse', ...market }));
    await relay.execute('turn:reduce');
    await relay.execute('turn').catch(() => undefined);

    expect(await relay.entry('turn:reduce')).toMatchObject({ status: 'unknown' });
    expect([orders(), unknownAlarms().length > 0]).toEqual([3, true]);
  });

  test.each(['error_before', 'garbage'] as const)(
    'ends as unknown with an alarm what it cannot look up (%s), and settles it when it can',
    async (fault) => {
      await sendBefore('again');
      const entry = await relay.send(buy('again'), {
        fault,
        endpoint: 'ended-order',
        probability: 1,
      });

      expect(entry).toMatchObject({ status: 'unknown', orderOpen: true });
      expect(entry.steps.at(-1)?.note).toMatch(/whether the lost relay had sent the order is not known/);
      expect(unknownAlarms()).toHaveLength(1);
      relay.paper.control.clearFaults();
      await relay.reconcileFor(2);
      expect(await relay.entry('again')).toMatchObject({ status: 'placed', orderId: 10_000_000_001 });
      expect(orders()).toBe(1);
    },
  );

  test('looks up for a day what has no time, and lists may lag then', async () => {
    relay.clock.advance(24 * hourMs + 9 * minuteMs);
    await sendBefore('again');
    expect(await relay.send(buy('again'))).toMatchObject({ orderId: 10_000_000_001 });
    const before = lookups();
    relay.clock.advance(2 * minuteMs);

    expect(await relay.send(buy('new'))).toMatchObject({ status: 'placed' });
    expect(lookups()).toBe(before);
  });

  test('looks up no alert that fired after the restore, except within what clocks may differ', async () => {
    relay.clock.advance(5 * minuteMs);
    const at = (ms: number) => ({ time: String(restoredAtMs + ms), maxLag: 3600 });
    await relay.send(buy('just-before', at(59_000)));
    expect(lookups()).toBe(1);
    await relay.send(buy('after', at(61_000)));

    expect([lookups(), orders()]).toEqual([1, 2]);
  });

  test('looks up again after its clock was set back', async () => {
    await restoreAt(relay.clock.nowMs() + hourMs);
    await sendBefore('again');

    expect(await relay.send(buy('again'))).toMatchObject({ orderId: 10_000_000_001 });
    expect(orders()).toBe(1);
  });
});

test('a stop-loss that the relay keeps is not looked up: it is placed on what stands at the exchange', async () => {
  const relay = await openKeptRelay();
  await relay.services.facts.write('main', 'restored', { atMs: relay.clock.nowMs() });
  const restoredAtMs = await readRestoredAt(relay.services.facts, ['main']);
  const settleSentBefore = createSentBefore(relay.services, restoredAtMs);
  Object.assign(relay.services, { settleSentBefore });
  const order = { orderType: 'market', maxSlippage: '1%', quantity: '0.1' };
  await relay.say({ action: 'buy', ...order, stopLoss: '48000' });
  await relay.goOn(30);
  await relay.say({ action: 'protect', stopLoss: '49000' });
  await relay.goOn(30);
  expect(await relay.open()).toEqual(['sell 0.1 stop 49000, reduces']);
  const { entries } = await relay.services.ledger.list({ status: 'placed', limit: 10 });
  const own = entries.filter(isSignal).find(({ signal }) => signal.action === 'protect');
  relay.asked.length = 0;

  const action = { isOrder: true, requests: [], send: () => Promise.reject(new Error('nothing is sent')) };
  expect(own && (await settleSentBefore?.(own, action, new ClearedEntries(0)))).toBeNull();
  expect(relay.asked).toEqual([]);
  await relay.close();
});

test('a folder that was not restored has no such lookup', async () => {
  const relay = await openAftermath();
  const restoredAtMs = await readRestoredAt(relay.services.facts, ['main']);
  expect(createSentBefore(relay.services, restoredAtMs)).toBeUndefined();
  await relay.close();
});
