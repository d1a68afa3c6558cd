import { afterEach, describe, expect, test } from '@jest/globals';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import type { FaultKind } from '../../lib/paper/faults/fault-rows.ts';
import { type Approach, resolveSignal } from '../../lib/relay/settle/resolve-signal.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

const key = { account: 'main', signalId: 'buy-1' };
const plainAlert = buyAlert({ stopLoss: undefined, takeProfit: undefined });
const byLookup: Approach = { kind: 'look' };
const cancelling: Approach = { kind: 'cancel' };

let relay: Aftermath;
afterEach(() => relay.close());

const resolve = (approach: Approach, services = relay.services) =>
  resolveSignal(services, key, approach, 'alice', { timeoutMs: 2_000 });

async function lose(fault: FaultKind, dialect: Dialect = 'live', alert = buyAlert()): Promise<void> {
  relay = await openAftermath(dialect);
  await relay.send(alert, { fault, endpoint: 'stop-limit' });
}

describe('an operator who settles a signal', () => {
  test('by a lookup stores what the lists prove, under the name given', async () => {
    await lose('drop_after');

    const { result, entry } = await resolve(byLookup);

    expect(result).toBe('settled');
    expect(entry).toMatchObject({ status: 'placed', orderId: 10_000_000_001, orderOpen: true });
    expect(entry.steps.at(-1)).toMatchObject({ status: 'placed', by: 'alice' });
  });

  test('by a lookup gets the finding when it proves nothing yet', async () => {
    await lose('drop_before');

    expect(await resolve(byLookup)).toMatchObject({
      result: 'open_question',
      entry: { status: 'unknown' },
      finding: 'the order is neither open nor in the history',
    });
  });

  test('by cancelling proves that the order existed although no list shows it', async () => {
    await lose('drop_after', 'documented', plainAlert);

    const { entry } = await resolve(cancelling);

    expect(entry).toMatchObject({ status: 'cancelled', orderId: 10_000_000_001, orderOpen: false });
    expect(relay.paper.control.state().orders).toMatchObject([{ status: 'cancelled' }]);
  });

  test('by cancelling learns that there is nothing to cancel because the order was filled', async () => {
    await lose('drop_after');
    relay.setPrice('50150');

    expect(await resolve(cancelling)).toMatchObject({
      result: 'settled',
      entry: { status: 'placed', orderOpen: false },
    });
  });

  test('by cancelling settles nothing when no order is open and the lists are incomplete', async () => {
    await lose('drop_before', 'documented', plainAlert);

    expect(await resolve(cancelling)).toMatchObject({
      result: 'open_question',
      finding: expect.stringMatching(
        /^its order is not open, so nothing was cancelled; the order is not listed/,
      ),
    });
  });

  test('by cancelling settles nothing when the exchange cannot be reached', async () => {
    await lose('drop_after');
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'cancel-order', probability: 1 });

    await expect(resolve(cancelling)).rejects.toMatchObject({ code: 'exchange_ambiguous' });
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'unknown' });
  });

  test('cannot cancel a signal that placed no order', async () => {
    relay = await openAftermath();
    await relay.send(JSON.stringify({ id: 'buy-1', ticker: 'BTCUSDT', action: 'cancel', orderId: 7 }), {
      fault: 'error_before',
      endpoint: 'cancel-order',
      probability: 1,
    });

    expect(await resolve(cancelling)).toMatchObject({
      result: 'open_question',
      finding: 'this signal placed no order that could be cancelled',
    });
  });

  test.each([
    ['placed', 77, true],
    ['cancelled', 77, false],
    ['rejected', null, false],
    ['not_placed', null, false],
  ] as const)('who saw "%s" on the exchange has that stored', async (status, orderId, orderOpen) => {
    await lose('drop_after', 'documented', plainAlert);

    const { result, entry } = await resolve({ kind: 'saw', status, note: 'order history, 14:05', orderId });

    expect(result).toBe('settled');
    expect(entry).toMatchObject({ status, orderId, orderOpen });
    expect(entry.steps.at(-1)).toMatchObject({
      by: 'alice',
      note: 'seen by the operator: order history, 14:05',
      evidence: { seen: status, orderId },
    });
  });

  test('does not change a settled signal', async () => {
    await lose('drop_after');
    await relay.reconcile();
    const before = await relay.entry('buy-1');

    expect(await resolve({ kind: 'saw', status: 'not_placed', note: 'a mistake', orderId: null })).toEqual({
      result: 'was_settled',
      entry: before,
      finding: null,
    });
  });

  test('at the same time as the reconciler finds it settled: only one of them settles it', async () => {
    await lose('drop_after');
    const { exchangeFor } = relay.services;
    const services = {
      ...relay.services,
      exchangeFor: async (account: string) => {
        await relay.reconcile();
        return await exchangeFor(account);
      },
    };

    const { result, entry } = await resolve(byLookup, services);

    expect(result).toBe('was_settled');
    expect(entry.steps.at(-1)).toMatchObject({ status: 'placed', by: 'reconcile-signals' });
  });

  test('finds no signal of an unknown id', async () => {
    relay = await openAftermath();

    await expect(resolve(byLookup)).rejects.toMatchObject({ code: 'entry_conflict' });
  });
});

describe('a signal that the relay is still working on', () => {
  /** Sends a signal whose worker dies before it can store the outcome. */
  async function leaveSending(): Promise<void> {
    relay = await openAftermath();
    const { services } = relay;
    await relay.receive(buyAlert());
    await services.ledger.start(key, { status: 'sending', atMs: relay.clock.nowMs(), note: '' }, null);
  }

  test('is not settled for a minute: its worker may be alive', async () => {
    await leaveSending();
    relay.clock.advance(minuteMs - 1);

    await expect(resolve(byLookup)).rejects.toMatchObject({ code: 'signal_under_way' });
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'sending' });
  });

  test('is not settled while it waits, however long', async () => {
    relay = await openAftermath();
    await relay.receive(buyAlert());
    relay.clock.advance(60 * minuteMs);

    await expect(resolve(byLookup)).rejects.toMatchObject({ code: 'signal_under_way' });
    expect(await relay.entry('buy-1')).toMatchObject({ status: 'accepted' });
  });

  test('is left to the reconciler: an operator cannot know whether its worker is dead', async () => {
    await leaveSending();
    relay.clock.advance(60 * minuteMs);
    const seen: Approach = { kind: 'saw', status: 'not_placed', note: 'open orders', orderId: null };

    await expect(resolve(seen)).rejects.toMatchObject({ code: 'signal_under_way' });
    relay.paper.control.addFault({ fault: 'down', durationMs: 1 });
    await relay.reconcile();

    expect((await resolve(seen)).entry.steps.map(({ status, by }) => [status, by])).toEqual([
      ['accepted', undefined],
      ['sending', undefined],
      ['unknown', 'reconcile-signals'],
      ['not_placed', 'alice'],
    ]);
  });

  test('finds it settled when the reconciler was first, and closes the entry of the order it cancelled', async () => {
    await lose('drop_after');
    const { exchangeFor } = relay.services;
    const quicker = override(relay.services, {
      exchangeFor: async (account) => {
        await relay.reconcile();
        return await exchangeFor(account);
      },
    });

    const { result, entry } = await resolve(cancelling, quicker);

    expect(result).toBe('was_settled');
    expect(entry).toMatchObject({ status: 'placed', orderOpen: false });
    expect(entry.steps.at(-1)).toMatchObject({ by: 'reconcile-signals' });
    expect(
      await resolve({ kind: 'saw', status: 'rejected', note: 'a mistake', orderId: null }),
    ).toMatchObject({
      result: 'was_settled',
    });
  });
});
