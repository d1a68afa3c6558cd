import { afterEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { reconcileSignals } from '../../lib/relay/settle/reconcile-signals.ts';
import { settleEntry } from '../../lib/relay/settle/settle-entry.ts';
import { type Aftermath, minuteMs, openAftermath } from '../support/aftermath.ts';
import { buyAlert } from '../support/alerts.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;
afterEach(() => relay.close());

const died = new RelayError('store_unavailable', 'the process died here');

/** An alarm too many is better than one that is lost in a crash. */
describe('an alarm is logged before the ledger write that it reports', () => {
  test('when an outcome has an alarm', async () => {
    relay = await openAftermath();
    const key = await relay.receive(buyAlert());
    const entry = await relay.entry(key.signalId);
    let alarmsBefore: readonly unknown[] = [];
    const ledger = override(relay.services.ledger, {
      move: async () => {
        alarmsBefore = [...relay.alarms];
        throw died;
      },
    });
    const outcome = {
      status: 'denied',
      note: '',
      evidence: null,
      alarm: { name: 'orders_left_open', message: 'look at this' },
    } as const;

    await expect(settleEntry({ ...relay.services, ledger }, entry, outcome)).rejects.toBe(died);

    expect(alarmsBefore).toEqual([
      { name: 'orders_left_open', account: 'main', market: 'BTC_USDT', signalId: 'buy-1' },
    ]);
  });

  test('when the outcome of a signal is unknown', async () => {
    relay = await openAftermath();
    const key = await relay.receive(buyAlert());
    const sending = { status: 'sending', atMs: relay.clock.nowMs(), note: '' } as const;
    await relay.services.ledger.start(key, sending, null);
    const entry = await relay.entry(key.signalId);
    const ledger = override(relay.services.ledger, {
      move: async (...args) => {
        await relay.services.ledger.move(...args);
        throw died;
      },
    });
    const outcome = { status: 'unknown', note: 'lost', evidence: null } as const;

    await expect(settleEntry({ ...relay.services, ledger }, entry, outcome)).rejects.toBe(died);

    expect(await relay.entry(key.signalId)).toMatchObject({ status: 'unknown' });
    expect(relay.alarms).toMatchObject([{ name: 'outcome_unknown', signalId: 'buy-1', status: 'unknown' }]);
  });

  test('when the reconciler takes over an entry of a dead worker, and the response to its write is lost', async () => {
    relay = await openAftermath();
    const key = await relay.receive(buyAlert());
    const sending = { status: 'sending', atMs: relay.clock.nowMs(), note: '' } as const;
    await relay.services.ledger.start(key, sending, null);
    relay.clock.advance(2 * minuteMs);
    const ledger = override(relay.services.ledger, {
      move: async (...args) => {
        await relay.services.ledger.move(...args);
        throw died;
      },
    });

    await expect(reconcileSignals({ ...relay.services, ledger })).rejects.toBe(died);

    expect(relay.alarms).toMatchObject([{ signalId: 'buy-1', status: 'unknown' }]);
  });

  test('when an outcome stays unknown for long', async () => {
    relay = await openAftermath('documented');
    const plain = buyAlert({ stopLoss: undefined, takeProfit: undefined });
    await relay.send(plain, { fault: 'drop_after' });
    const before = relay.alarms.length;
    relay.clock.advance(60 * minuteMs);
    let alarmsBefore = 0;
    const ledger = override(relay.services.ledger, {
      postpone: async () => {
        alarmsBefore = relay.alarms.length - before;
        throw died;
      },
    });

    await expect(reconcileSignals({ ...relay.services, ledger })).rejects.toBe(died);

    expect(alarmsBefore).toBe(1);
  });
});
