import { expect, test } from '@jest/globals';
import type { Entry, Step } from '../../lib/ledger/entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { checkNotices } from './audit-notices.ts';
import type { FullSpan } from './data-disk.ts';
import { type Evidence, gatherEvidence } from './evidence.ts';
import type { Facts } from './facts.ts';
import type { ShownNotice } from './notice-service.ts';

function keepEntry(signalId: string, ...path: readonly Status[]): Entry {
  const steps: readonly Step[] = path.map((status) => ({ status, atMs: 1_000, note: '' }));
  const status = path.at(-1) ?? 'accepted';
  return { account: 'main', signalId, signal: { action: 'order' } as Signal, status, steps } as Entry;
}

const entries = [
  keepEntry('a', 'accepted', 'sending', 'placed'),
  keepEntry('b', 'accepted', 'sending', 'unknown'),
  keepEntry('c', 'accepted', 'denied'),
];
const placed = 'main · buy 0.001 BTC_USDT: accepted by the exchange';
const denied = 'main · buy 0.001 BTC_USDT: DENIED, nothing was sent — too late';
const unknown = 'main · ALARM: signal outcome unknown — signalId: b; market: BTC_USDT; note: no response';
const bought = 'main · bought 0.001 BTC_USDT at 60000';
const order = { account: 'main', side: 'buy', amount: '0.0010', market: 'BTC_USDT', filled: '0.001' };

const alarmLine = (atMs: number) =>
  JSON.stringify({
    level: 'ERROR',
    message: 'clock is off',
    timestamp: new Date(atMs).toISOString(),
    account: 'main',
    market: 'BTC_USDT',
    alarm: true,
    alarmName: 'clock_off',
  });
/** The outcome of one signal is unknown: an alarm with each of these messages. */
const unknownLine = (message: string, atMs: number) =>
  alarmLine(atMs)
    .replace('clock is off', message)
    .replace('"alarmName":"clock_off"', '"alarmName":"outcome_unknown","signalId":"a-7"');
const notStored = unknownLine('an outcome could not be stored', 50_000);
const stillUnknown = unknownLine('signal outcome unknown', 60_000);
const clockOff = 'main · ALARM: clock is off — market: BTC_USDT; offMs: 7';

interface Case {
  readonly lines?: readonly string[];
  /** Besides these, with their own titles. */
  readonly shown?: readonly Partial<ShownNotice>[];
  readonly endedAtMs?: readonly number[];
  readonly journal?: readonly string[];
  readonly fullDisks?: readonly FullSpan[];
}

/** What both services have shown: one thing each message, half a minute apart. */
function judge({
  lines = [],
  shown = [],
  endedAtMs = [],
  journal = [],
  fullDisks = [],
}: Case): readonly string[] {
  const alone = lines.map((line) => ({ title: line.split(' — ')[0] ?? '', lines: [line] }));
  const notices = [...alone, ...shown].flatMap((notice, index) =>
    (['ntfy', 'webhook'] as const).map(
      (channel): ShownNotice => ({
        channel,
        atMs: 100_000 + index * 30_000,
        trouble: null,
        title: '',
        lines: [],
        ...notice,
      }),
    ),
  );
  const facts = {
    alerts: [],
    entries,
    exchange: { orders: [{ ...order, orderId: 1 }], acceptedOrderIds: [1] } as unknown as Facts['exchange'],
    writings: [{ place: 'journal', kind: 'log', text: journal.join('\n') }],
    notices: { shown: notices, endedAtMs, fullDisks },
  } as unknown as Facts;
  const evidence: Evidence = gatherEvidence(facts);
  return checkNotices(evidence)
    .filter(({ what }) => what.startsWith('ntfy'))
    .map(({ wrong, what }) => `${wrong}: ${what}`);
}

const all = [placed, denied, unknown, bought];

test('the audit finds nothing when everything was told once', () => {
  expect(judge({ lines: all })).toEqual([]);
  expect(
    judge({ shown: [{ title: '4 notices: 1 filled, 1 placed, 1 denied, 1 unknown', lines: all }] }),
  ).toEqual([]);
  expect(judge({ lines: [...all, clockOff], journal: [alarmLine(50_000)] })).toEqual([]);
  expect(
    judge({
      lines: [...all, 'main · ALARM: an outcome could not be stored — signalId: a-7; market: BTC_USDT'],
      journal: [notStored, stillUnknown],
    }),
  ).toEqual([]);
});

test.each<[string, Case, string]>([
  [
    'an unknown outcome that nobody was told of',
    { lines: [placed, denied, bought] },
    'untold: ntfy was not told of an unknown outcome',
  ],
  [
    'an alarm of the log that nobody was told of',
    { lines: all, journal: [alarmLine(50_000)] },
    'untold: ntfy was not told of an alarm: clock_off',
  ],
  [
    'an alarm of a full disk that nobody was told of once there was room',
    {
      lines: all,
      journal: [alarmLine(50_000)],
      endedAtMs: [60_000],
      fullDisks: [{ fromMs: 49_000, untilMs: 55_000 }],
    },
    'untold: ntfy was not told of an alarm: clock_off',
  ],
  [
    'an alarm of an unknown outcome of which another signal alone was told',
    {
      lines: [...all, 'main · ALARM: an outcome could not be stored — signalId: a-8; market: BTC_USDT'],
      journal: [notStored],
    },
    'untold: ntfy was not told of an alarm: outcome_unknown',
  ],
  [
    'an outcome that nobody was told of',
    { lines: [placed, unknown, bought] },
    'untold: ntfy was not told of all outcomes of the category denied',
  ],
  [
    'an alarm that was told again',
    { lines: [...all, unknown.replace('no response', 'still none')] },
    'retold: ntfy was told of an alarm again, although it had answered',
  ],
  [
    'an alarm that was told a third time, although only the first answer was lost',
    {
      lines: [placed, denied, bought],
      shown: [
        { title: unknown, lines: [unknown], trouble: 'cut' },
        { title: unknown, lines: [unknown] },
        { title: unknown, lines: [unknown] },
      ],
    },
    'retold: ntfy was told of an alarm again, although it had answered',
  ],
  [
    'an outcome that was told again',
    { lines: [...all, denied] },
    'retold: ntfy was told of too many outcomes of the category denied',
  ],
  [
    'an order that the exchange does not have',
    { lines: [...all.slice(1), placed.replace('buy', 'sell')] },
    'disagreement: ntfy was told of more accepted orders than the exchange has',
  ],
  [
    'more filled than at the exchange',
    { lines: [...all, bought.replace('60000', '60001')] },
    'disagreement: ntfy was told of more fills than the exchange has',
  ],
])('the audit finds %s', (_, facts, found) => {
  expect(judge(facts)).toEqual([found]);
});

test.each<[string, Case]>([
  [
    'a notice that came again because its answer was lost',
    { lines: all.slice(0, 3), shown: [{ lines: [bought], trouble: 'cut' }, { lines: [bought] }] },
  ],
  [
    'an alarm that came again because the process was killed before it noted the answer',
    { lines: [...all, unknown], endedAtMs: [160_500] },
  ],
  [
    'an alarm of a process that was killed before it could note it',
    { lines: all, journal: [alarmLine(50_000)], endedAtMs: [51_000] },
  ],
  [
    'an alarm that came again because the disk did not take the note of the answer until the process was killed',
    {
      lines: [...all, unknown],
      endedAtMs: [163_100],
      fullDisks: [{ fromMs: 159_000, untilMs: 164_000 }],
    },
  ],
  [
    'an alarm of a full disk that had no room until the process was killed',
    {
      lines: all,
      journal: [alarmLine(50_000)],
      endedAtMs: [60_000],
      fullDisks: [{ fromMs: 49_000, untilMs: 60_500 }],
    },
  ],
  [
    'the same alarm after ten minutes',
    { lines: all, shown: [{ lines: [unknown], title: unknown, atMs: 800_000 }] },
  ],
])('the audit allows %s', (_, facts) => {
  expect(judge(facts)).toEqual([]);
});
