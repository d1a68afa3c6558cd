import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import { buyAlert } from '../support/alerts.ts';
import { faultRows } from '../support/fault-rows.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openWorld, type World } from '../support/world.ts';

const exchangeTimeoutMs = 60_000;

describe.each(dialects)('faults of the exchange while a stop-limit is sent, in the %s dialect', (dialect) => {
  let world: World;
  afterEach(async () => {
    jest.useRealTimers();
    await world.close();
  });

  /** Pauses before retries pass at once. Only a response that never comes takes as long as the deadline. */
  async function openWith(fault: FaultRequest): Promise<void> {
    world = await openWorld({ dialect, exchangeTimeoutMs, clock: createManualClock(1_790_000_000_000) });
    world.setPrice('BTC_USDT', '50000');
    // The market list is read before the fault, as in any relay that has just started.
    await world.post(buyAlert({ id: 'warm-up', quantity: '5' }));
    await world.settled('warm-up');
    world.paper.control.addFault({ endpoint: 'stop-limit', ...fault });
  }

  /** Replaces the relay's timers, so that the test decides when the deadline passes. */
  function holdTimers(): void {
    jest.useFakeTimers({
      doNotFake: [
        'Date',
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
      ],
    });
  }

  /** The exchange has accepted the order and delays its response by an hour. Now the deadline passes. */
  async function letDeadlinePass(): Promise<void> {
    while (world.paper.control.state().acceptedCreates === 0) await nextTurn();
    jest.advanceTimersByTime(exchangeTimeoutMs);
  }

  test.each(faultRows)('$name → $status', async ({ fault, status, orders, isLate = false }) => {
    await openWith(fault);
    if (isLate) holdTimers();

    await world.post(buyAlert());
    if (isLate) await letDeadlinePass();

    expect(await world.settled('buy-1')).toMatchObject({
      status,
      orderOpen: status === 'placed' || status === 'unknown',
    });
    expect(world.paper.control.state().orders).toHaveLength(orders);
    // A resend of the alert changes nothing, whatever happened.
    expect((await world.post(buyAlert())).body).toMatchObject({ duplicate: true, status });
    expect(world.paper.control.state().orders).toHaveLength(orders);
  });

  test('an unknown outcome is an alarm, and later signals of the market are still executed', async () => {
    await openWith({ fault: 'drop_after' });

    await world.post(buyAlert());
    await world.post(buyAlert({ id: 'buy-2' }));

    expect(await world.settled('buy-2')).toMatchObject({ status: 'placed' });
    expect(
      world.logged.filter(({ level, facts }) => level === 'error' && facts['alarm'] === true),
    ).toHaveLength(1);
    expect(world.paper.control.state().orders).toHaveLength(2);
  });

  test('a response about another order is an alarm with what was requested and what was returned', async () => {
    await openWith({ fault: 'contradict' });

    await world.post(buyAlert());

    const { steps } = await world.settled('buy-1');
    const alarm =
      'the response to buy 0.01 BTC_USDT at stop 50100, limit 50200 reports another order (side sell instead of buy): check the account at once';
    expect(steps.at(-1)).toMatchObject({ note: alarm, evidence: { alarm, answered: { side: 'sell' } } });
    expect(world.logged).toContainEqual({
      level: 'error',
      message: alarm,
      facts: {
        account: 'main',
        market: 'BTC_USDT',
        signalId: 'buy-1',
        alarm: true,
        alarmName: 'order_contradicted',
      },
    });
  });

  test('a cancellation whose response is about another order is an alarm, and its outcome is unknown', async () => {
    await openWith({ fault: 'contradict', endpoint: 'cancel-order' });
    await world.post(buyAlert());
    await world.settled('buy-1');

    await world.post(JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', action: 'cancel', signalId: 'buy-1' }));

    expect(await world.settled('undo')).toMatchObject({
      status: 'unknown',
      steps: [{}, {}, { note: expect.stringContaining('order id 10000000002 instead of 10000000001') }],
    });
    expect(await world.settled('buy-1')).toMatchObject({ status: 'placed', orderOpen: true });
    expect(world.logged.filter(({ facts }) => facts['alarm'] === true)).toMatchObject([
      { facts: { signalId: 'undo' } },
      { message: 'signal outcome unknown', facts: { signalId: 'undo' } },
    ]);
  });

  test.each(['stop-limit', 'cancel-order'])(
    'secrets that the %s response repeats appear nowhere',
    async (endpoint) => {
      await openWith({ fault: 'echo_headers', endpoint });
      await world.post(buyAlert());
      await world.settled('buy-1');

      await world.post(JSON.stringify({ id: 'undo', ticker: 'BTCUSDT', action: 'cancel_all' }));

      const undone = await world.settled('undo');
      const texts = JSON.stringify([world.logged, await world.settled('buy-1'), undone]);
      expect(texts).toContain('[redacted]');
      expect(texts).not.toMatch(/paper-key|paper-secret|[0-9a-f]{128}|eyJyZXF1ZXN0/);
    },
  );

  test('an order that may exist is cancelled by its client order id', async () => {
    await openWith({ fault: 'drop_after' });
    await world.post(buyAlert());
    await world.settled('buy-1');

    await world.post(JSON.stringify({ id: 'clean-up', ticker: 'BTCUSDT', action: 'cancel_all' }));

    expect(await world.settled('clean-up')).toMatchObject({ status: 'cancelled' });
    expect(world.paper.control.state().orders).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('a relay configured for the wrong dialect', () => {
  test('raises an alarm instead of trusting an order without its client order id', async () => {
    const world = await openWorld({ dialect: 'live', relayDialect: 'documented' });
    world.setPrice('BTC_USDT', '50000');

    await world.post(buyAlert());

    expect(await world.settled('buy-1')).toMatchObject({ status: 'unknown' });
    expect(world.logged.some(({ facts }) => facts['alarm'] === true)).toBe(true);
    await world.close();
  });
});
