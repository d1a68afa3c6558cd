import { afterEach, describe, expect, test } from '@jest/globals';
import type { DueKey } from '../../lib/ledger/ledger.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';
import type { RelayServices } from '../support/relay-services.ts';

const createPath = '/api/v4/order/collateral/stop-limit';
const cancelPath = '/api/v4/order/cancel';
/** Not stale within an hour. */
const patient = { time: new Date(noonMs).toISOString(), maxLag: 3600 };

let relay: Aftermath;
afterEach(() => relay.close());

const statuses = async (id: string) => (await relay.entry(id)).steps.map(({ status }) => status);

describe('the kill switch', () => {
  const pause = { sinceMs: noonMs, reason: 'news', kind: 'everything' } as const;

  /** Executes the signal while an operator pauses its account between preparation and sending. */
  async function executeWhilePausing(key: DueKey, preparedMs = 1001): Promise<void> {
    const { services } = relay;
    const exchangeFor: RelayServices['exchangeFor'] = async (account) => {
      await services.ledger.writePause('main', pause);
      relay.clock.advance(preparedMs);
      return await services.exchangeFor(account);
    };
    await executeSignal({ ...services, exchangeFor }, key);
  }

  test('stops an order that was being prepared when the account was paused', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert({ id: 'before' }));
    const before = relay.asked.length;

    await executeWhilePausing(await relay.receive(buyAlert()));

    expect(await statuses('buy-1')).toEqual(['accepted', 'denied']);
    expect((await relay.entry('buy-1')).steps.at(-1)?.evidence).toMatchObject({ rule: 'paused' });
    expect(relay.asked.slice(before)).not.toContain(createPath);
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['open']);
  });

  test('is not read again before sending when preparing took no longer than a second', async () => {
    relay = await openAftermath();
    await relay.begin();

    await executeWhilePausing(await relay.receive(buyAlert()), 1000);

    expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'placed']);
    await executeWhilePausing(await relay.receive(buyAlert({ id: 'next' })), 0);
    expect(await statuses('next')).toEqual(['accepted', 'denied']);
  });

  test.each([
    { action: 'cancel_all' },
    { action: 'cancel', signalId: 'before' },
    { action: 'cancel', orderId: 1 },
  ])('does not stop %o, whether paused before or after it is prepared', async (cancel) => {
    relay = await openAftermath();
    const { orderId } = await relay.send(buyAlert({ id: 'before' }));
    await relay.services.ledger.writePause('main', pause);
    const named = 'orderId' in cancel ? { ...cancel, orderId } : cancel;

    await executeWhilePausing(
      await relay.receive(JSON.stringify({ id: 'stop', ticker: 'BTCUSDT', ...named })),
    );

    expect(await statuses('stop')).toEqual(['accepted', 'sending', 'cancelled']);
    expect(relay.paper.control.state().orders.map(({ status }) => status)).toEqual(['cancelled']);
    expect(relay.alarms).toEqual([]);
  });
});

describe('a worker that is frozen after it wrote `sending`', () => {
  async function executeFrozen(key: DueKey, frozenMs: number): Promise<void> {
    const { services } = relay;
    const ledger = override(services.ledger, {
      start: async (...args) => {
        const started = await services.ledger.start(...args);
        relay.clock.advance(frozenMs);
        return started;
      },
    });
    await executeSignal({ ...services, ledger }, key);
  }

  test('sends nothing if it wakes half a minute later', async () => {
    relay = await openAftermath();
    const key = await relay.receive(buyAlert(patient));

    await executeFrozen(key, 30_000);

    expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'not_sent']);
    expect(relay.asked).not.toContain(createPath);
    expect(relay.paper.control.state().orders).toEqual([]);
  });

  test('sends the order if it wakes a millisecond earlier', async () => {
    relay = await openAftermath();
    // A connection stands: on a slow machine a new one takes longer than the millisecond that is left.
    await relay.send(buyAlert({ id: 'before' }));
    const key = await relay.receive(buyAlert(patient));

    await executeFrozen(key, 29_999);

    expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'placed']);
    expect(relay.paper.control.state().orders).toHaveLength(2);
  });

  test('sends no cancellation either', async () => {
    relay = await openAftermath();
    await relay.send(buyAlert({ id: 'before' }));
    const alert = { id: 'undo', ticker: 'BTCUSDT', action: 'cancel', signalId: 'before', ...patient };
    const key = await relay.receive(JSON.stringify(alert));

    await executeFrozen(key, 30_000);

    expect(await statuses('undo')).toEqual(['accepted', 'sending', 'not_sent']);
    expect(relay.asked).not.toContain(cancelPath);
  });

  test('replaces the `unknown` of the reconciler, because it knows that nothing was sent', async () => {
    relay = await openAftermath();
    const { services } = relay;
    const key = await relay.receive(buyAlert(patient));
    const ledger = override(services.ledger, {
      start: async (...args) => {
        const started = await services.ledger.start(...args);
        relay.clock.advance(minuteMs);
        await relay.reconcile();
        return started;
      },
    });

    await executeSignal({ ...services, ledger }, key);

    expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'unknown', 'not_sent']);
    expect(await relay.entry('buy-1')).toMatchObject({ orderOpen: false });
    expect(relay.asked).not.toContain(createPath);
  });
});

test('an order is not retried later than half a minute after `sending` when no connection can be made', async () => {
  const sentAtMs: number[] = [];
  relay = await openAftermath('live', (clock) => sentAtMs.push(clock.nowMs()));
  const key = await relay.receive(buyAlert(patient));
  await relay.begin();
  relay.paper.control.addFault({ fault: 'down', durationMs: 10 * minuteMs });
  const before = sentAtMs.length;

  await executeSignal({ ...relay.services, exchangeTimeoutMs: 10 * minuteMs }, key);

  const attempts = sentAtMs.slice(before);
  expect(attempts.length).toBeGreaterThan(5);
  expect(Math.max(...attempts)).toBeLessThan(noonMs + 30_000);
  expect(await statuses('buy-1')).toEqual(['accepted', 'sending', 'not_sent']);
});
