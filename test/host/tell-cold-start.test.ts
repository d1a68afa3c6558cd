import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { type ColdStart, createColdStartTeller } from '../../lib/host/tell-cold-start.ts';
import type { AccountFacts } from '../../lib/ledger/account-facts.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { createListeningLog, type ListeningLog } from '../support/listening-log.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type RaisedAlarm, recordAlarms } from '../support/record-alarms.ts';

const minuteMs = 60_000;
const executeCold: ColdStart = { receive: false, execute: true };
const receiveCold: ColdStart = { receive: true, execute: false };
const signal: Signal = {
  action: 'cancel_all',
  ticker: 'BTCUSDT',
  market: 'BTC_USDT',
  timeMs: null,
  maxLagMs: null,
};

let clock: ManualClock;
let file: SqliteFile;
let ledger: Ledger;
let facts: AccountFacts;
let log: ListeningLog;
let recorded: ReturnType<typeof recordAlarms>;
let raised: readonly RaisedAlarm[];

beforeEach(() => {
  clock = createManualClock(Date.UTC(2026, 10, 22, 12));
  file = openSqlite(':memory:');
  ledger = createSqliteLedger(file);
  facts = createSqliteAccountFacts(file);
  log = createListeningLog();
  recorded = recordAlarms();
  raised = recorded.raised;
});
afterEach(() => file.close());

/** The teller of a new process. */
function open({ release = 'first' as string | null, store = facts } = {}) {
  const accounts = ['main', 'second'];
  return createColdStartTeller({
    clock,
    log: log.log,
    alarms: recorded.alarms,
    facts: store,
    ledger,
    accounts,
    release,
  });
}

async function store(signalId: string, { account = 'main', fingerprint = signalId } = {}) {
  const entry = { account, signalId, signal, clientOrderId: null, fingerprint, atMs: clock.nowMs() };
  await ledger.accept([entry], null);
  return { account, signalId, market: 'BTC_USDT' };
}

/** A release that is kept warm for that long. */
async function keepWarmFor(minutes: number, release = 'first'): Promise<void> {
  await open({ release }).noteWarm();
  clock.advance(minutes * minuteMs);
}

describe('A cold start', () => {
  test.each([
    [executeCold, 'a'],
    [receiveCold, 'b'],
  ])('is told of the signal that met it: %j', async (met, signalId) => {
    await keepWarmFor(10);

    await open().tell(await store(signalId), met);

    expect(raised).toEqual([{ name: 'cold_start', account: 'main', signalId }]);
  });

  test('is told once an hour, whichever process and account meets it', async () => {
    await keepWarmFor(10);
    await open().tell(await store('a'), executeCold);
    clock.advance(59 * minuteMs);
    await open().tell(await store('b', { account: 'second' }), executeCold);
    expect(raised).toHaveLength(1);

    clock.advance(minuteMs);
    await open().tell(await store('c', { account: 'second' }), executeCold);
    expect(raised.map(({ account, signalId }) => [account, signalId])).toEqual([
      ['main', 'a'],
      ['second', 'c'],
    ]);
  });

  test('is not told of a signal that met none', async () => {
    await keepWarmFor(10);

    await open().tell(await store('a'), { receive: false, execute: false });

    expect(raised).toEqual([]);
  });

  test('is not told within ten minutes of the first call that keeps a release warm', async () => {
    await keepWarmFor(600);
    await keepWarmFor(9, 'second');
    // A later process of that release notes nothing anew.
    await open({ release: 'second' }).noteWarm();
    await open({ release: 'second' }).tell(await store('a'), executeCold);
    expect(raised).toEqual([]);

    clock.advance(minuteMs);
    await open({ release: 'second' }).tell(await store('b'), receiveCold);
    expect(raised).toHaveLength(1);
  });

  test('is not told of a release that was never kept warm, nor where the stack keeps nothing warm', async () => {
    await keepWarmFor(10);
    const message = await store('a');

    await open({ release: 'second' }).tell(message, executeCold);
    await open({ release: null }).tell(message, executeCold);

    expect(raised).toEqual([]);
  });

  test('is not told of signals that came within a minute of each other, in whichever account', async () => {
    await keepWarmFor(10);
    await store('a');
    clock.advance(minuteMs - 1);
    const message = await store('b', { account: 'second' });

    await open().tell(message, executeCold);
    await open().tell(message, receiveCold);

    expect(raised).toEqual([]);
  });

  test('of receiving is told of an alert with several signals; of executing it is not, because they run side by side', async () => {
    await keepWarmFor(10);
    await store('a', { fingerprint: 'one alert' });
    const message = await store('b', { fingerprint: 'one alert' });

    await open().tell(message, executeCold);
    expect(raised).toEqual([]);
    await open().tell(message, receiveCold);
    expect(raised).toHaveLength(1);
  });

  test('that cannot be told fails nothing: the signal is done', async () => {
    await keepWarmFor(10);
    const broken: AccountFacts = {
      read: async () => {
        throw new RelayError('store_unavailable', 'no connection');
      },
      write: facts.write,
    };

    await open({ store: broken }).tell(await store('a'), executeCold);

    expect(raised).toEqual([]);
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'a cold start could not be told' }]);
  });
});
