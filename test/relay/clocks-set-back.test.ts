import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Aftermath, minuteMs, noonMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});
afterEach(() => relay.close());

/** The ids of the signals that one run of the reconciler enqueues, in their order. */
async function sweptIds(): Promise<readonly string[]> {
  const ids: string[] = [];
  const queue = { enqueue: async ({ signalId }: { readonly signalId: string }) => void ids.push(signalId) };
  await relay.reconcile({ ...relay.services, queue });
  return ids;
}

describe('after a clock was set back', () => {
  test('waiting signals are enqueued again, oldest first, if their times are more than a minute in the future', async () => {
    for (const id of ['first', 'second']) {
      await relay.receive(buyAlert({ id }));
      relay.clock.advance(1000);
    }

    // The first lies exactly a minute ahead, the second more.
    relay.clock.advance(-minuteMs - 2000);
    expect(await sweptIds()).toEqual(['second']);
    relay.clock.advance(-60 * minuteMs);
    expect(await sweptIds()).toEqual(['first', 'second']);
  });

  test('a signal from before is denied with both numbers, because its age is not known', async () => {
    await relay.receive(buyAlert());
    relay.clock.advance(-60 * minuteMs);

    await relay.execute('buy-1');

    expect((await relay.entry('buy-1')).steps.at(-1)).toMatchObject({
      status: 'denied',
      evidence: { rule: 'stale', limit: '60 s ahead', actual: '3600 s ahead' },
    });
    expect(relay.paper.control.state().orders).toEqual([]);
  });

  test.each([
    [minuteMs - 1, 0],
    [minuteMs, 1],
    [60 * minuteMs, 1],
  ])(
    'of a signal whose `sending` is %i ms in the future, the reconciler takes over %i',
    async (aheadMs, takenOver) => {
      const key = await relay.receive(buyAlert());
      const step = { status: 'sending', atMs: noonMs + aheadMs, note: '' } as const;
      await relay.services.ledger.start(key, step, null);

      expect(await relay.reconcile()).toMatchObject({ takenOver });
    },
  );

  test('an order whose next lookup was scheduled before is looked up at once', async () => {
    await relay.send(buyAlert(), { fault: 'drop_before', endpoint: 'stop-limit' });
    await relay.reconcile();
    expect((await relay.entry('buy-1')).lookup).toMatchObject({ count: 1 });

    relay.clock.advance(-3 * 60 * minuteMs);

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1 });
    expect((await relay.entry('buy-1')).lookup).toMatchObject({ count: 2 });
  });

  test('an order that became unknown before is looked up at once, and proved not to exist as soon as any other', async () => {
    await relay.send(buyAlert(), { fault: 'drop_before', endpoint: 'stop-limit' });
    relay.paper.control.clearFaults();
    relay.clock.advance(-60 * minuteMs);

    expect(await relay.reconcile()).toMatchObject({ lookedUp: 1 });
    relay.clock.advance(minuteMs);
    await relay.reconcileFor(7);

    expect(await relay.entry('buy-1')).toMatchObject({ status: 'not_placed' });
  });

  test('the alarm of an unknown outcome is raised again at once', async () => {
    await relay.send(buyAlert(), { fault: 'drop_before', endpoint: 'stop-limit' });
    await relay.reconcile();
    const before = relay.alarms.length;

    relay.clock.advance(-3 * 60 * minuteMs);
    await relay.reconcile();

    expect(relay.alarms.slice(before).map(({ name }) => name)).toEqual(['outcome_unknown']);
  });
});
