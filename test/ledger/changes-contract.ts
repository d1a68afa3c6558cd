import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Alarm } from '../../lib/base/alarms.ts';
import type { LogFacts } from '../../lib/base/log.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { LedgerChange } from '../../lib/ledger/ledger-change.ts';
import type { Execution } from '../../lib/model/execution.ts';
import { orderEntry } from './ledger-contract.ts';

export interface ChangesFixture {
  readonly ledger: Ledger;
  readonly executions: Executions;
  addAlarm(alarm: Alarm, facts: LogFacts, atMs: number): Promise<void>;
  addDay(account: string, day: string, lines: readonly string[], atMs: number): Promise<void>;
  /** Every change so far, in the order of the writes. */
  changes(): Promise<readonly (LedgerChange | null)[]>;
  close(): Promise<void>;
}

const key = { account: 'main', signalId: 'a' };
const order = { role: 'order', orderId: 7, endedAtMs: null, filledNotional: '0', fees: {} } as const;

export function executionOf(filled: string): Execution {
  return {
    revision: filled === '0' ? 1 : 2,
    readAtMs: 50,
    orders: [{ ...order, status: 'open', filled }],
    isFollowed: true,
  };
}

export async function placeOrder(ledger: Ledger): Promise<void> {
  await ledger.accept([orderEntry('a')], null);
  await ledger.start(key, { status: 'sending', atMs: 20, note: 'sending' }, null);
  await ledger.move(key, {
    from: 'sending',
    step: { status: 'placed', atMs: 30, note: 'order 7' },
    orderId: 7,
  });
}

/** The contract of what a store tells of its changes. */
export function describeChanges(name: string, open: () => Promise<ChangesFixture>): void {
  describe(name, () => {
    let fixture: ChangesFixture;
    beforeEach(async () => {
      fixture = await open();
    });
    afterEach(() => fixture.close());

    test('tells outcomes, executions and pauses in the order of their writes, and nothing on its way', async () => {
      const { ledger, executions } = fixture;
      await placeOrder(ledger);
      await executions.record(key, executionOf('0'), []);
      await executions.record(key, executionOf('0.5'), []);
      await ledger.refuse({
        ...key,
        signalId: 'b',
        fingerprint: 'f',
        step: { status: 'invalid', atMs: 60, note: 'no' },
      });
      await ledger.writePause('main', { sinceMs: 70, reason: 'lunch', kind: 'entries' });
      await ledger.writePause('main', null);

      expect(await fixture.changes()).toMatchObject([
        { kind: 'outcome', account: 'main', step: { status: 'placed', note: 'order 7' }, entry: key },
        { kind: 'execution', before: null, entry: { execution: executionOf('0') } },
        {
          kind: 'execution',
          before: executionOf('0'),
          entry: { execution: executionOf('0.5') },
          atMs: 50,
        },
        { kind: 'outcome', entry: { signalId: 'b' }, step: { note: 'no' } },
        { kind: 'pause', account: 'main', pause: { sinceMs: 70, reason: 'lunch', kind: 'entries' } },
        { kind: 'pause', account: 'main', pause: null },
      ]);
    });

    test('tells each outcome of a signal with its step', async () => {
      const { ledger } = fixture;
      await ledger.accept([orderEntry('a')], null);
      await ledger.start(key, { status: 'sending', atMs: 20, note: 'sending' }, null);
      await ledger.move(key, { from: 'sending', step: { status: 'unknown', atMs: 30, note: 'lost' } });
      await ledger.move(key, { from: 'unknown', step: { status: 'not_placed', atMs: 40, note: 'none' } });

      expect(await fixture.changes()).toMatchObject([
        { kind: 'outcome', step: { status: 'unknown', note: 'lost' } },
        { kind: 'outcome', step: { status: 'not_placed', note: 'none' } },
      ]);
    });

    test('tells an alarm of an account, and one of none', async () => {
      await fixture.addAlarm({ name: 'unknown_word', message: 'm' }, { account: 'main', word: 'w' }, 80);
      await fixture.addAlarm({ name: 'signals_waiting', message: 'n' }, { signals: 2 }, 90);

      expect(await fixture.changes()).toEqual([
        {
          kind: 'alarm',
          id: expect.any(String),
          account: 'main',
          atMs: 80,
          name: 'unknown_word',
          message: 'm',
          facts: { account: 'main', word: 'w' },
        },
        {
          kind: 'alarm',
          id: expect.any(String),
          account: null,
          atMs: 90,
          name: 'signals_waiting',
          message: 'n',
          facts: { signals: 2 },
        },
      ]);
    });

    test('tells the figures of a day', async () => {
      await fixture.addDay('main', '2026-11-24', ['1 signals'], 5);
      expect(await fixture.changes()).toMatchObject([{ kind: 'day', account: 'main', lines: ['1 signals'] }]);
    });

    test('gives each change an id of its own', async () => {
      await placeOrder(fixture.ledger);
      await fixture.executions.record(key, executionOf('0'), []);
      await fixture.ledger.writePause('main', { sinceMs: 70, reason: 'lunch', kind: 'entries' });
      const ids = (await fixture.changes()).map((change) => change?.id);
      expect(new Set(ids).size).toBe(3);
    });
  });
}
