import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { parseConfig } from '../../lib/host/config.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { runMinute } from '../../lib/relay/settle/run-minute.ts';
import { orderEntry, signal } from '../ledger/ledger-contract.ts';
import { acceptOne } from '../support/accept-one.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { recordAlarms } from '../support/record-alarms.ts';
import { testConfig } from '../support/world.ts';

const noonMs = 1_767_268_800_000;

describe('a run of the reconciler', () => {
  let file: SqliteFile;
  let ledger: Ledger;
  let enqueued: string[];
  let recorded: ReturnType<typeof recordAlarms>;

  beforeEach(() => {
    file = openSqlite(':memory:');
    ledger = createSqliteLedger(file);
    enqueued = [];
    recorded = recordAlarms();
  });
  afterEach(() => file.close());

  async function reconcile(nowMs = noonMs): Promise<void> {
    const silence = () => undefined;
    await runMinute(
      {
        clock: createManualClock(nowMs),
        log: { info: silence, warn: silence, error: silence },
        alarms: recorded.alarms,
        settings: parseConfig(testConfig).settings,
        exchangeTimeoutMs: 1_000,
        exchangeFor: async (account) => {
          throw new RelayError('secrets_missing', `account ${account} has no key`);
        },
        ledger,
        executions: createSqliteExecutions(file),
        facts: createSqliteAccountFacts(file),
        entrance: ledger,
        isPaperExchange: true,
        queue: { enqueue: async ({ signalId }) => void enqueued.push(signalId) },
      },
      null,
    );
  }

  const accept = (signalId: string, ageMs: number) =>
    acceptOne(ledger, orderEntry(signalId, { atMs: noonMs - ageMs }), null);

  test('enqueues signals that have waited for 30 seconds to 15 minutes, oldest first', async () => {
    await accept('too-old', 900_001);
    await accept('oldest', 900_000);
    await accept('older', 60_000);
    await accept('just-due', 30_001);
    await accept('on-its-way', 30_000);
    await reconcile();
    expect(enqueued).toEqual(['oldest', 'older', 'just-due']);
  });

  test('raises an alarm for older ones instead of enqueuing them again and again', async () => {
    await accept('a', 900_001);
    await accept('b', 7_200_000);
    await reconcile();
    expect(enqueued).toEqual([]);
    expect(recorded.raised).toEqual([{ name: 'signals_waiting', account: 'main', signals: 2 }]);
  });

  test('raises that alarm again after unknownAlarmMinutes, not in every run', async () => {
    const entry = { atMs: noonMs - 900_001, signal: { ...signal, maxLagMs: 7_200_000 } };
    await acceptOne(ledger, orderEntry('a', entry), null);
    for (const minute of [0, 1, 14, 15, 16]) await reconcile(noonMs + minute * 60_000);
    expect(recorded.raised).toEqual(
      Array.from({ length: 2 }, () => ({ name: 'signals_waiting', account: 'main', signals: 1 })),
    );
  });

  test('does not count signals it denied as stale among the stuck ones', async () => {
    const timeMs = noonMs - 3_600_000;
    await acceptOne(ledger, orderEntry('stale', { atMs: timeMs, signal: { ...signal, timeMs } }), null);
    await accept('stuck', 900_001);
    await reconcile();
    expect(await ledger.read({ account: 'main', signalId: 'stale' })).toMatchObject({ status: 'denied' });
    expect(recorded.raised).toEqual([
      { name: 'signal_not_executed', account: 'main', market: 'BTC_USDT', signalId: 'stale' },
      { name: 'signals_waiting', account: 'main', signals: 1 },
    ]);
  });

  test('looks up unknown orders, and takes over signals that a dead worker was sending', async () => {
    const step = { atMs: noonMs - 60_000, note: '' };
    const key = (signalId: string) => ({ account: 'main', signalId });
    for (const id of ['sending', 'unknown']) {
      await accept(id, 60_000);
      await ledger.start(key(id), { ...step, status: 'sending' }, null);
    }
    await ledger.move(key('unknown'), { from: 'sending', step: { ...step, status: 'unknown' } });
    await reconcile();
    for (const id of ['sending', 'unknown'])
      expect(await ledger.read(key(id))).toMatchObject({
        status: 'unknown',
        lookup: { count: 1, notFound: 0, finding: 'could not be looked up: account main has no key' },
      });
    expect(recorded.raised).toMatchObject([
      { name: 'outcome_unknown', signalId: 'sending', status: 'unknown' },
    ]);
  });

  test('leaves signals alone that are settled or being sent', async () => {
    await accept('denied', 60_000);
    await accept('sending', 60_000);
    const key = (signalId: string) => ({ account: 'main', signalId });
    const step = { atMs: noonMs, note: '' };
    await ledger.move(key('denied'), { from: 'accepted', step: { ...step, status: 'denied' } });
    await ledger.start(key('sending'), { ...step, status: 'sending' }, null);
    await reconcile();
    expect([enqueued, recorded.raised]).toEqual([[], []]);
  });

  test('fails when the ledger does, so that the schedule sees it', async () => {
    file.close();
    await expect(reconcile()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
