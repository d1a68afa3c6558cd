import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createAcceptedEntry } from '../../lib/ledger/create-entry.ts';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import type { LedgerChange } from '../../lib/ledger/ledger-change.ts';
import { afterSending, type ChannelState, firstState, recallTold } from '../../lib/notices/channel-state.ts';
import { type ChannelName, defaultLevels } from '../../lib/notices/notice-settings.ts';
import { openRequestChannel } from '../../lib/notices/request-channel.ts';
import { type BatchChange, tellBatch } from '../../lib/notices/tell-batch.ts';
import { orderEntry } from '../ledger/ledger-contract.ts';
import { createListeningLog, type ListeningLog } from '../support/listening-log.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const startMs = Date.UTC(2026, 10, 24, 12);
let standIn: StandIn;
let transport: Transport;
let clock: ManualClock;
let log: ListeningLog;
let stored: Map<ChannelName, ChannelState>;
/** What the ledger has of an entry. */
let readEntry: (key: EntryKey) => Promise<Entry | null>;
beforeEach(async () => {
  standIn = await startStandIn();
  transport = createTransport();
  clock = createManualClock(startMs);
  log = createListeningLog();
  stored = new Map();
  readEntry = async () => null;
});
afterEach(async () => {
  transport.close();
  await standIn.close();
});

function alarm(id: string, madeAtMs = startMs): BatchChange {
  const change: LedgerChange = {
    kind: 'alarm',
    id,
    account: 'main',
    atMs: madeAtMs,
    name: 'unknown_word',
    message: `a word: ${id}`,
    facts: { account: 'main', word: id },
  };
  return { change, madeAtMs };
}

function placed(index: number): BatchChange {
  const entry = createAcceptedEntry(orderEntry(`order-${index}`, { atMs: startMs }));
  const step = { status: 'placed', atMs: startMs, note: '' } as const;
  const change: LedgerChange = {
    kind: 'outcome',
    id: `placed ${index}`,
    account: 'main',
    atMs: startMs,
    entry,
    step,
  };
  return { change, madeAtMs: startMs };
}

function filled(index: number): BatchChange {
  const order = {
    role: 'order',
    orderId: index,
    status: 'filled',
    endedAtMs: startMs,
    filled: '1',
    filledNotional: '2',
    fees: {},
  } as const;
  const execution = { revision: 1, readAtMs: startMs, orders: [order], isFollowed: false };
  const entry = { ...createAcceptedEntry(orderEntry(`order-${index}`, { atMs: startMs })), execution };
  const change: LedgerChange = {
    kind: 'execution',
    id: `filled ${index}`,
    account: 'main',
    atMs: startMs,
    entry,
    before: null,
  };
  return { change, madeAtMs: startMs };
}

/** A stop-loss of the relay that has sold what a buy of 0.01 at 50000 had bought, both with fees. */
function stoppedOut(): { readonly opener: Entry; readonly stop: BatchChange } {
  const order = { role: 'order', orderId: 1, status: 'filled', endedAtMs: startMs, filled: '0.01' } as const;
  const executionOf = (filledNotional: string, fee: string) => ({
    revision: 1,
    readAtMs: startMs,
    orders: [{ ...order, filledNotional, fees: { USDT: fee } }],
    isFollowed: false,
  });
  const accepted = createAcceptedEntry(orderEntry('buy-1', { atMs: startMs }));
  const opener = { ...accepted, status: 'placed', execution: executionOf('500', '0.5') } as const;
  const signal = {
    ticker: 'BTCUSDT',
    market: 'BTC_USDT',
    timeMs: null,
    maxLagMs: null,
    strategy: 'BE',
    action: 'protect',
    role: 'stop_loss',
    of: 'buy-1',
  } as const;
  const protective = {
    side: 'sell',
    amount: '0.01',
    orderType: 'stop_limit',
    stopPrice: '48000',
    limitPrice: '47520',
    expectTrigger: 'below',
  } as const;
  const sending = { status: 'sending', atMs: startMs, note: '', facts: { protective } } as const;
  const kept = createAcceptedEntry(orderEntry('buy-1:stop-t3k9f2', { atMs: startMs, signal }));
  const entry: Entry = {
    ...kept,
    status: 'placed',
    steps: [...kept.steps, sending],
    execution: executionOf('480', '0.48'),
  };
  const base = { kind: 'execution', id: 'stopped', account: 'main', atMs: startMs } as const;
  return { opener, stop: { change: { ...base, entry, before: null }, madeAtMs: startMs } };
}

/** As a function that is called anew each time. */
function tell(changes: readonly BatchChange[], channels: readonly ChannelName[] = ['telegram', 'slack']) {
  const settings = {
    channels,
    levels: defaultLevels,
    accounts: {},
    heartbeatAt: '08:00',
    timeZone: 'Etc/UTC',
  };
  const states = {
    read: async (name: ChannelName) => stored.get(name) ?? null,
    write: async (name: ChannelName, state: ChannelState) => void stored.set(name, state),
  };
  const openChannel = async (name: ChannelName) =>
    openRequestChannel(name as 'slack', standIn.ways, { transport, clock });
  const services = { settings, states, openChannel, clock, log: log.log, ledger: { read: readEntry } };
  return tellBatch(services, changes, clock.nowMs() + 40_000);
}

test('changes that are delivered again are told once', async () => {
  await tell([alarm('a'), alarm('b')]);
  await tell([alarm('a'), alarm('b'), alarm('c')]);

  expect(standIn.shown.slack.map(({ text }) => text.match(/a word: \w/g))).toEqual([
    ['a word: a', 'a word: b'],
    ['a word: c'],
  ]);
});

test('the alarms of a thousand outcomes that are raised once more are told once', async () => {
  const alarms = Array.from({ length: 1_000 }, (_, index) => alarm(`${index}`));
  await tell(alarms, ['slack']);
  const requests = standIn.shown.slack.length;

  clock.advance(60_000);
  await tell(
    alarms.map(({ change, madeAtMs }) => ({ change: { ...change, id: `${change.id} again` }, madeAtMs })),
    ['slack'],
  );

  expect(standIn.shown.slack.length).toBe(requests);
});

test('what is known to be told fits into one item of DynamoDB, after a flood of long alarms, too', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `${'a long alarm '.repeat(30)}${index}`);

  const state = afterSending(firstState, keys, startMs);

  expect(JSON.stringify(state).length).toBeLessThan(300_000);
  expect(keys.filter(recallTold(state, startMs)).length).toBeGreaterThanOrEqual(4_000);
});

test('a service that asks to wait is waited for, and its changes are told in the same run', async () => {
  standIn.replies.push({ status: 429, headers: { 'retry-after': '7' } });
  await tell([alarm('a')], ['slack']);

  expect(clock.sleptMs).toEqual([7_000]);
  expect(standIn.shown.slack).toHaveLength(1);
});

test('a wait that is longer than the run has them delivered again, and is heeded by the next run', async () => {
  standIn.replies.push({ status: 429, headers: { 'retry-after': '120' } });
  await expect(tell([alarm('a')], ['slack'])).rejects.toThrow('notices were not told by slack');
  await expect(tell([alarm('a')], ['slack'])).rejects.toThrow('notices were not told by slack');
  expect(standIn.requestCount()).toBe(1);

  clock.advance(100_000);
  await tell([alarm('a')], ['slack']);
  expect(standIn.shown.slack).toHaveLength(1);
});

test('a channel that fails has nothing told twice by another one', async () => {
  const { slack, ...others } = standIn.ways;
  const broken = { ...others, slack: { url: `${standIn.url}/services/gone` } };
  expect(slack).toBeDefined();
  Object.assign(standIn, { ways: broken });
  await expect(tell([alarm('a')])).rejects.toThrow('notices were not told by slack');
  await expect(tell([alarm('a')])).rejects.toThrow('notices were not told by slack');

  expect(standIn.shown.telegram).toHaveLength(1);
  expect(log.lines.map(({ facts }) => facts['reason'])).toEqual(['it answered HTTP 404']);
});

test('a channel that has failed for five minutes holds up no other one, and that is logged', async () => {
  Object.assign(standIn, { ways: { ...standIn.ways, slack: { url: `${standIn.url}/services/gone` } } });
  await tell([alarm('a', startMs - 400_000)]);

  expect(standIn.shown.telegram).toHaveLength(1);
  expect(log.lines.map(({ level, message }) => [level, message]).at(-1)).toEqual([
    'error',
    'a channel is passed over: others have told these notices',
  ]);
});

test('while no channel tells, nothing is passed over', async () => {
  Object.assign(standIn, { ways: {} });
  await expect(tell([alarm('a', startMs - 4_000_000)])).rejects.toThrow(
    'notices were not told by telegram, slack',
  );
});

test.each([
  ['outcomes', placed],
  ['fills', filled],
])('600 %s push no alarm out of what a channel has told lately', async (_, changeOf) => {
  await tell([alarm('a')], ['slack']);
  await tell(
    Array.from({ length: 600 }, (_none, index) => changeOf(index)),
    ['slack'],
  );
  expect(standIn.shown.slack.at(-1)?.text).toContain('600 notices');

  // The same alarm, raised again.
  const again = alarm('a');
  await tell([{ ...again, change: { ...again.change, id: 'again' } }], ['slack']);

  expect(standIn.shown.slack.filter(({ text }) => text.includes('a word: a'))).toHaveLength(1);
});

test('the profit of a stop-loss that the relay placed is told after the fees of both, with one read', async () => {
  const { opener, stop } = stoppedOut();
  const read: EntryKey[] = [];
  readEntry = async (key) => {
    read.push(key);
    return opener;
  };
  await tell([stop, filled(1), placed(2)], ['slack']);

  expect(standIn.shown.slack[0]?.text).toContain(
    'main · stop-loss of buy-1 filled: sold 0.01 BTC_USDT at 48000, profit -20.98 USDT [BE]',
  );
  expect(read).toEqual([{ account: 'main', signalId: 'buy-1' }]);
});

test.each([
  ['is gone', async () => null],
  ['cannot be read', () => Promise.reject(new RelayError('store_unavailable', 'no answer'))],
  [
    'has filled less than that',
    async ({ opener }: ReturnType<typeof stoppedOut>): Promise<Entry> => ({
      ...opener,
      execution: {
        revision: 1,
        readAtMs: startMs,
        isFollowed: true,
        orders: (opener.execution?.orders ?? []).map((order) => ({ ...order, filled: '0.009' })),
      },
    }),
  ],
])('a stop-loss whose entry %s is told without a profit', async (_, answer) => {
  const stopped = stoppedOut();
  readEntry = () => answer(stopped);
  await tell([stopped.stop], ['slack']);

  expect(standIn.shown.slack.map(({ text }) => text)).toEqual([
    'main · stop-loss of buy-1 filled: sold 0.01 BTC_USDT at 48000 [BE]',
  ]);
});
