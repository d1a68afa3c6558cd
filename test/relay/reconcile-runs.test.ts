import { afterEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { ProtectSignal } from '../../lib/model/signal.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { acceptOne } from '../support/accept-one.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
afterEach(() => relay.close());

const lostOnItsWay: FaultRequest = { fault: 'drop_before', endpoint: 'stop-limit' };
const lostOnItsWayBack: FaultRequest = { fault: 'drop_after', endpoint: 'stop-limit' };
const refused: FaultRequest = { fault: 'refuse', endpoint: 'stop-limit' };
const creates = () => relay.paper.control.state().acceptedCreates;
const entry = () => relay.entry('buy-1');

async function steps(): Promise<readonly string[]> {
  return (await entry()).steps.map(({ status, by }) => (by === undefined ? status : `${status} by ${by}`));
}

/** The positions are read beside the lookups, which they do not delay. */
const isOfWatch = () => relay?.asked.at(-1) === '/api/v4/collateral-account/positions/open';

/** Stores a signal of that time in this status, as a worker leaves it that died or lost its response. */
async function leaveBehind(status: 'sending' | 'unknown', signalId: string, atMs: number): Promise<void> {
  const { ledger } = relay.services;
  const { signal } = await entry();
  if (signal === null) throw new Error('the signal is gone');
  const key = { account: 'main', signalId };
  await acceptOne(ledger, { ...key, signal, clientOrderId: `tr-${signalId}`, fingerprint: 'f', atMs }, null);
  await ledger.start(key, { status: 'sending', atMs, note: '' }, null);
  if (status === 'unknown')
    await ledger.move(key, { from: 'sending', step: { status, atMs, note: '' }, orderOpen: true });
}

describe('a worker that died while it sent an order', () => {
  async function die(fault?: FaultRequest): Promise<void> {
    relay = await openAftermath();
    const key = await relay.receive(buyAlert());
    const ledger = override(relay.services.ledger, {
      move: async () => {
        throw new RelayError('entry_conflict', 'the process stopped here');
      },
    });
    if (fault !== undefined) relay.paper.control.addFault(fault);
    await expect(executeSignal({ ...relay.services, ledger }, key)).rejects.toThrow(
      'the process stopped here',
    );
  }

  test('is not taken over for a minute: it may be alive', async () => {
    await die();
    relay.clock.advance(minuteMs - 1);

    expect(await relay.reconcile()).toMatchObject({ takenOver: 0, lookedUp: 0 });
    expect(await entry()).toMatchObject({ status: 'sending' });
  });

  test('is taken over after that, with an alarm, and its order is found in the same run', async () => {
    await die();
    relay.clock.advance(minuteMs);

    expect(await relay.reconcile()).toMatchObject({ takenOver: 1, lookedUp: 1, settled: 1 });

    expect(await steps()).toEqual([
      'accepted',
      'sending',
      'unknown by reconcile-signals',
      'placed by reconcile-signals',
    ]);
    expect(relay.alarms).toMatchObject([{ signalId: 'buy-1', status: 'unknown' }]);
    expect(creates()).toBe(1);
  });

  test('is proved by lookups to have left no order if the request did not reach the exchange', async () => {
    await die(lostOnItsWay);
    relay.clock.advance(minuteMs);
    await relay.reconcile();
    expect(await entry()).toMatchObject({ status: 'unknown', orderOpen: true, lookup: { notFound: 1 } });

    await relay.reconcileFor(7);

    expect(await entry()).toMatchObject({ status: 'not_placed', orderOpen: false });
    expect(creates()).toBe(0);
  });

  test('is taken over by one run only', async () => {
    await die();
    relay.clock.advance(minuteMs);

    const runs = await Promise.all([relay.reconcile(), relay.reconcile(), relay.reconcile()]);

    expect(runs.map(({ takenOver }) => takenOver).sort()).toEqual([0, 0, 1]);
    expect(await entry()).toMatchObject({ status: 'placed', steps: { length: 4 } });
  });

  test('is taken over with up to a hundred others, oldest first', async () => {
    await die();
    for (let index = 0; index < 110; index += 1)
      await leaveBehind('sending', `s-${index}`, noonMs - minuteMs - index);

    expect(await relay.reconcile()).toMatchObject({ takenOver: 100 });

    const { entries } = await relay.services.ledger.list({ status: 'sending', limit: 100 });
    expect(entries.map(({ signalId }) => signalId)).toEqual([
      'buy-1',
      ...Array.from({ length: 10 }, (_, index) => `s-${index}`),
    ]);
  });
});

describe('a worker that was wrongly taken for dead', () => {
  /** It wakes a minute after the exchange has responded. */
  async function sleepAfterSending(fault?: FaultRequest): Promise<Status> {
    relay = await openAftermath();
    const key = await relay.receive(buyAlert());
    const client = await relay.services.exchangeFor('main');
    const drowsy = override(client, {
      prepare: (endpoint, params) => {
        const request = client.prepare(endpoint, params);
        const send: typeof request.send = async (options) => {
          const response = await Promise.allSettled([request.send(options)]);
          relay.clock.advance(minuteMs);
          await relay.reconcile();
          if (response[0].status === 'rejected') throw response[0].reason;
          return response[0].value;
        };
        return { ...request, send };
      },
    });
    if (fault !== undefined) relay.paper.control.addFault(fault);
    return await executeSignal({ ...relay.services, exchangeFor: async () => drowsy }, key);
  }

  test('replaces `unknown` with the outcome that it knows', async () => {
    expect(await sleepAfterSending(refused)).toBe('rejected');

    expect(await steps()).toEqual(['accepted', 'sending', 'unknown by reconcile-signals', 'rejected']);
    expect(await entry()).toMatchObject({ orderOpen: false, lookup: { count: 1 } });
    expect(await relay.reconcile()).toMatchObject({ lookedUp: 0 });
    expect(creates()).toBe(0);
  });

  test('does not replace an outcome that was found meanwhile', async () => {
    expect(await sleepAfterSending()).toBe('placed');

    expect(await steps()).toEqual([
      'accepted',
      'sending',
      'unknown by reconcile-signals',
      'placed by reconcile-signals',
    ]);
    expect(creates()).toBe(1);
  });
});

describe('two runs at once', () => {
  test('settle each signal once', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWayBack);

    const runs = await Promise.all([relay.reconcile(), relay.reconcile()]);

    expect(runs.map(({ settled }) => settled).sort()).toEqual([0, 1]);
    expect(await steps()).toEqual(['accepted', 'sending', 'unknown', 'placed by reconcile-signals']);
    expect(creates()).toBe(1);
  });

  test('count a lookup that found nothing once', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWay);

    for (const minutes of [1, 2, 4]) {
      await Promise.all([relay.reconcile(), relay.reconcile()]);
      relay.clock.advance(minutes * minuteMs);
    }
    expect(await entry()).toMatchObject({ status: 'unknown', lookup: { count: 3, notFound: 3 } });
    const runs = await Promise.all([relay.reconcile(), relay.reconcile()]);

    expect(runs.map(({ settled }) => settled).sort()).toEqual([0, 1]);
    expect(await steps()).toEqual(['accepted', 'sending', 'unknown', 'not_placed by reconcile-signals']);
    expect(creates()).toBe(0);
  });
});

describe('one run', () => {
  test('looks up at most a hundred orders, those that are due longest', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert());
    for (let index = 0; index < 120; index += 1)
      await leaveBehind('unknown', `s-${index}`, noonMs - 1000 - index);

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 100, settled: 0 });

    const left = await relay.services.ledger.dueLookups(noonMs, 200);
    expect(left.map(({ signalId }) => signalId)).toEqual(
      Array.from({ length: 20 }, (_, index) => `s-${19 - index}`),
    );
    expect(await relay.reconcile()).toMatchObject({ lookedUp: 20 });
    expect(creates()).toBe(1);
  });

  test('starts no lookup after half a minute, and the next run continues there', async () => {
    let requestMs = 0;
    relay = await openAftermath('live', (clock) => clock.advance(isOfWatch() ? 0 : requestMs));
    await relay.send(buyAlert());
    for (let index = 0; index < 6; index += 1)
      await leaveBehind('unknown', `s-${index}`, noonMs - 10 + index);
    requestMs = 4000;

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 3 });
    expect(relay.clock.nowMs() - noonMs).toBe(36_000);
    const left = await relay.services.ledger.dueLookups(relay.clock.nowMs(), 10);
    expect(left.map(({ signalId }) => signalId)).toEqual(['s-3', 's-4', 's-5']);

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 3 });
  });

  test('stops a long lookup before the next run starts, and reschedules it after the others', async () => {
    let requestMs = 0;
    relay = await openAftermath('live', (clock) => clock.advance(isOfWatch() ? 0 : requestMs));
    const alert = { quantity: '0.001', stopLoss: undefined, takeProfit: undefined };
    for (let count = 1; count <= 20; count += 1) await relay.send(buyAlert({ ...alert, id: `buy-${count}` }));
    await relay.send(JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', action: 'cancel_all' }), {
      fault: 'error_before',
      endpoint: 'cancel-order',
      probability: 1,
    });
    const beganMs = relay.clock.nowMs();
    await leaveBehind('unknown', 'other', beganMs);
    requestMs = 4000;

    await relay.reconcile();

    expect(relay.clock.nowMs() - beganMs).toBeLessThanOrEqual(44_000);
    expect(await relay.entry('undo')).toMatchObject({ status: 'unknown', lookup: { count: 1, notFound: 0 } });
    requestMs = 0;
    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1 });
    expect(await relay.entry('other')).toMatchObject({ lookup: { count: 1, notFound: 1 } });
  });

  test('ends when the ledger cannot be written, and keeps what it has settled', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert(), lostOnItsWayBack);
    await leaveBehind('unknown', 'later', noonMs + 1);
    relay.clock.advance(1);
    const ledger = override(relay.services.ledger, {
      postpone: async () => {
        throw new RelayError('store_unavailable', 'the disk is full');
      },
    });

    await expect(relay.reconcile({ ...relay.services, ledger })).rejects.toMatchObject({
      code: 'store_unavailable',
    });

    expect(await entry()).toMatchObject({ status: 'placed' });
    expect(await relay.entry('later')).toMatchObject({ status: 'unknown', lookup: { count: 0 } });
  });
});

describe('a stop-loss that waits to be looked at', () => {
  const signal: ProtectSignal = {
    action: 'protect',
    role: 'stop_loss',
    of: 'buy-1',
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    timeMs: null,
    maxLagMs: null,
  };

  async function keepWaiting(waitMs: number, more: Partial<ProtectSignal> = {}): Promise<void> {
    relay = await openAftermath();
    const key = { account: 'main', signalId: 'buy-1:stop-1' };
    const atMs = relay.clock.nowMs();
    const entry = { ...key, signal: { ...signal, ...more }, clientOrderId: 'tr-1', fingerprint: 'f', atMs };
    await acceptOne(relay.services.ledger, entry, null);
    relay.clock.advance(waitMs);
    await relay.reconcile();
  }

  test('is told after a minute: what protects the position may not fit it', async () => {
    await keepWaiting(minuteMs);

    expect(relay.alarms).toMatchObject([
      { name: 'protection_failed', account: 'main', market: 'BTC_USDT', signalId: 'buy-1:stop-1' },
    ]);
  });

  test('is told again after ten minutes, not before', async () => {
    await keepWaiting(minuteMs);
    await relay.reconcileFor(9);
    expect(relay.alarms).toHaveLength(1);
    await relay.reconcileFor(1);
    expect(relay.alarms).toHaveLength(2);
  });

  test('is not told before a minute', async () => {
    await keepWaiting(minuteMs - 1);
    expect(relay.alarms).toEqual([]);
  });

  test('what closes a turned position is no stop-loss: the watch of positions tells of it', async () => {
    await keepWaiting(minuteMs, { turnedBy: 7 });
    expect(relay.alarms).toEqual([]);
  });
});

describe('a signal that was stored but never executed', () => {
  const hourAlert = buyAlert({ time: new Date(noonMs).toISOString(), maxLag: 3600 });

  /** Stores a signal whose message is lost or a dead letter. */
  async function forget(alert: string, ageMs: number): Promise<void> {
    relay = await openAftermath();
    await relay.receive(alert);
    relay.clock.advance(ageMs);
  }

  async function reconcileInto(enqueued: SignalMessage[]) {
    const queue = { enqueue: async (message: SignalMessage) => void enqueued.push(message) };
    return await relay.reconcile({ ...relay.services, queue });
  }

  test('is denied, with an alarm, once it is stale and a quarter of an hour old', async () => {
    await forget(buyAlert(), 15 * minuteMs + 1);

    expect(await reconcileInto([])).toMatchObject({ denied: 1, stuck: 0, enqueued: 0 });

    expect(await steps()).toEqual(['accepted', 'denied by reconcile-signals']);
    expect((await entry()).steps.at(-1)).toMatchObject({
      evidence: { rule: 'stale', limit: '60 s', actual: '900.001 s' },
    });
    expect(relay.alarms).toMatchObject([{ signalId: 'buy-1' }]);
  });

  test('is not denied but counted as stuck when its alert is not stale yet', async () => {
    await forget(hourAlert, 15 * minuteMs + 1);

    expect(await reconcileInto([])).toMatchObject({ denied: 0, stuck: 1, enqueued: 0 });
    expect(await steps()).toEqual(['accepted']);

    relay.clock.advance(45 * minuteMs);
    expect(await reconcileInto([])).toMatchObject({ denied: 1, stuck: 0 });
    expect(await entry()).toMatchObject({ status: 'denied' });
  });

  test.each([
    ['for less than half a minute', 30_000, 0],
    ['for longer', 30_001, 1],
    ['for a quarter of an hour', 15 * minuteMs, 1],
  ])('is enqueued again, stale or not, when it waits %s: %i ms', async (_, ageMs, count) => {
    await forget(buyAlert(), ageMs);
    const enqueued: SignalMessage[] = [];

    expect(await reconcileInto(enqueued)).toMatchObject({ denied: 0, stuck: 0, enqueued: count });

    expect(enqueued).toHaveLength(count);
    expect(await steps()).toEqual(['accepted']);
    expect(relay.alarms).toEqual([]);
  });

  test('is not sent when its message is delivered after all', async () => {
    await forget(buyAlert(), 15 * minuteMs + 1);
    await relay.reconcile();

    expect(
      await executeSignal(relay.services, { account: 'main', signalId: 'buy-1', market: 'BTC_USDT' }),
    ).toBe('denied');
    expect(creates()).toBe(0);
  });

  test('is either denied once or executed when two runs and a worker meet', async () => {
    await forget(hourAlert, 61 * minuteMs);
    const key = { account: 'main', signalId: 'buy-1', market: 'BTC_USDT' };

    const [first, second] = await Promise.all([
      relay.reconcile(),
      relay.reconcile(),
      executeSignal(relay.services, key).catch(() => undefined),
    ]);

    expect(first.denied + second.denied).toBeLessThanOrEqual(1);
    expect((await entry()).steps).toHaveLength(2);
    expect(await entry()).toMatchObject({ status: 'denied' });
    expect(creates()).toBe(0);
  });
});
