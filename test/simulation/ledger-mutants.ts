import type { SqliteFile } from '../../lib/base/sqlite.ts';
import { createFirstLookup } from '../../lib/ledger/create-entry.ts';
import type { Entry, EntryKey, Step } from '../../lib/ledger/entry.ts';
import {
  type Ledger,
  limitWindowMs,
  type MinuteLimit,
  type Move,
  type StoredSignal,
} from '../../lib/ledger/ledger.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { override } from '../support/override.ts';
import { rollWhole } from './dice.ts';
import { keyText } from './history.ts';
import type { Mutant, MutationTools } from './mutation.ts';

/** `sending` is remembered instead of written, until there is an outcome to write. */
function writeAfterSend(ledger: Ledger): Ledger {
  const started = new Map<string, { readonly step: Step; readonly limit: MinuteLimit | null }>();
  return override(ledger, {
    async start(key, step, limit) {
      started.set(keyText(key), { step, limit });
      return { result: 'started' };
    },
    async move(key, move) {
      const pending = started.get(keyText(key));
      if (pending !== undefined) await ledger.start(key, pending.step, pending.limit);
      started.delete(keyText(key));
      return await ledger.move(key, move);
    },
  });
}

/** Who finds `sending` goes on as if nobody had begun. */
function ignoreLease(ledger: Ledger): Ledger {
  return override(ledger, {
    async read(key) {
      const entry = await ledger.read(key);
      return entry?.status === 'sending' ? { ...entry, status: 'accepted' } : entry;
    },
    start: (key, step, limit) => startRegardless(ledger, key, step, limit),
  });
}

async function startRegardless(ledger: Ledger, key: EntryKey, step: Step, limit: MinuteLimit | null) {
  const started = await ledger.start(key, step, limit);
  return started.result === 'conflict' ? ({ result: 'started' } as const) : started;
}

/** The outcome is written over whatever stands there. */
function settleBlindly(ledger: Ledger, { file, bareLedger, process }: MutationTools): Ledger {
  return override(ledger, {
    move: (key, move) =>
      process.step('ledger.move', `${keyText(key)} → ${move.step.status}`, async () => {
        overwrite(file, key, move);
        process.stage.history.noteStatus(key, move.step.status, process.stage.loop.nowMs);
        return await entryOf(bareLedger, key);
      }),
  });
}

function overwrite({ database }: SqliteFile, { account, signalId }: EntryKey, move: Move): void {
  const { step, orderId = null, orderOpen = null } = move;
  const isUnknown = step.status === 'unknown';
  database
    .prepare(
      `UPDATE entries SET status = ?3, updated_at_ms = ?4, steps = json_insert(steps, '$[#]', json(?5)),
         order_id = coalesce(?6, order_id), order_open = coalesce(?7, order_open),
         lookup = coalesce(?8, lookup), look_due_at_ms = iif(?8 IS NULL, NULL, ?4)
       WHERE account = ?1 AND signal_id = ?2`,
    )
    .run(
      account,
      signalId,
      step.status,
      step.atMs,
      JSON.stringify(step),
      orderId,
      orderOpen === null ? null : Number(orderOpen),
      isUnknown ? JSON.stringify(createFirstLookup(step.atMs)) : null,
    );
}

async function entryOf(ledger: Ledger, key: EntryKey): Promise<Entry> {
  const entry = await ledger.read(key);
  if (entry === null) throw new Error(`${keyText(key)} is not in the ledger`);
  return entry;
}

/** Whatever the signal says of its age, it is taken for fresh. */
function ignoreStaleness(ledger: Ledger): Ledger {
  return override(ledger, {
    async read(key) {
      const entry = await ledger.read(key);
      if (entry === null || entry.signal === null) return entry;
      return { ...entry, signal: { ...entry.signal, maxLagMs: Number.MAX_SAFE_INTEGER / 2 } };
    },
  });
}

/** The same bytes are another signal each time they come. */
function renameDeliveries(ledger: Ledger, drawNumber: () => number): Ledger {
  return override(ledger, {
    accept(entries, limit) {
      const renamed = entries.map((entry) => {
        const signalId = `${entry.signalId}-${drawNumber()}`.slice(-60);
        const clientOrderId = entry.clientOrderId === null ? null : `tr-${drawNumber()}`;
        return { ...entry, signalId, clientOrderId };
      });
      return ledger.accept(renamed, limit);
    },
  });
}

/** The first look that finds nothing has the last word. */
function concludeHastily(ledger: Ledger): Ledger {
  return override(ledger, {
    async dueLookups(nowMs, limit) {
      const entries = await ledger.dueLookups(nowMs, limit);
      return entries.map((entry) =>
        entry.lookup === null
          ? entry
          : { ...entry, lookup: { ...entry.lookup, notFound: 100, firstNotFoundAtMs: 0 } },
      );
    },
  });
}

/** One after the other, as if they were alerts of their own. */
function storeOneByOne(ledger: Ledger): Ledger {
  return override(ledger, {
    async accept(entries, limit) {
      const signals: StoredSignal[] = [];
      for (const entry of entries) {
        const accepted = await ledger.accept([entry], limit);
        if (accepted.result !== 'stored') return accepted;
        signals.push(...accepted.signals);
      }
      return { result: 'stored', signals };
    },
  });
}

/** What lies ahead of the clock counts against the limit. */
function countAhead(ledger: Ledger, { database }: SqliteFile): Ledger {
  const statement = 'SELECT count(*) AS n FROM entries WHERE account = ? AND accepted_at_ms > ?';
  return override(ledger, {
    async accept(entries, limit) {
      const [first] = entries;
      if (first === undefined || limit === null) return await ledger.accept(entries, limit);
      const row = database.prepare(statement).get(first.account, first.atMs - limitWindowMs);
      const count = Number(row?.['n']);
      if (count + entries.length > limit.maxPerMinute) return { result: 'over_limit', count };
      return await ledger.accept(entries, limit);
    },
  });
}

/** The kill switch ends cancellations, too. */
function stopCancels(ledger: Ledger): Ledger {
  return override(ledger, {
    async start(key, step, limit) {
      const entry = await ledger.read(key);
      const isStopped = entry?.clientOrderId === null && (await ledger.readPause(key.account)) !== null;
      if (!isStopped) return await ledger.start(key, step, limit);
      const evidence = { rule: 'paused' };
      const denied: Step = { status: 'denied', atMs: step.atMs, note: 'paused', evidence };
      return { result: 'conflict', entry: await ledger.move(key, { from: 'accepted', step: denied }) };
    },
  });
}

/** What has that status is never found by looking for it. */
function hideStatus(ledger: Ledger, status: Status): Ledger {
  return override(ledger, {
    list: (query) =>
      query.status === status
        ? Promise.resolve({ entries: [], cursors: [], next: null })
        : ledger.list(query),
  });
}

/** Relays that misuse the ledger. */
export const ledgerMutants: readonly Mutant[] = [
  {
    name: 'write-after-send',
    breaks: '"sending" is not written before the outcome is',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: (ledger, { story }) => (story === 'execute' ? writeAfterSend(ledger) : ledger) },
  },
  {
    name: 'ignore-lease',
    breaks: 'a redelivery that finds "sending" sends',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: (ledger, { story }) => (story === 'execute' ? ignoreLease(ledger) : ledger) },
  },
  {
    name: 'ignore-conflict',
    breaks: 'a worker that lost the race to "sending" sends all the same',
    seeds: 300,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { story }) =>
        story === 'execute'
          ? override(ledger, { start: (key, step, limit) => startRegardless(ledger, key, step, limit) })
          : ledger,
    },
  },
  {
    name: 'blind-settling',
    breaks: 'an outcome is written whatever the status is by then',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: settleBlindly },
  },
  {
    name: 'hasty-not-found',
    breaks: 'the first look that finds no order is final',
    seeds: 600,
    dialect: 'live',
    mutation: { ledger: concludeHastily },
  },
  {
    name: 'no-sweep',
    breaks: 'what was stored and never queued is not looked for',
    seeds: 200,
    dialect: 'live',
    mutation: { ledger: (ledger) => hideStatus(ledger, 'accepted') },
  },
  {
    name: 'no-take-over',
    breaks: 'what a dead worker was sending is left "sending"',
    seeds: 300,
    dialect: 'live',
    mutation: { ledger: (ledger) => hideStatus(ledger, 'sending') },
  },
  {
    name: 'unseen-waiting',
    breaks: 'what is stored and waits without a message is not looked for',
    seeds: 1500,
    dialect: 'live',
    mutation: { ledger: (ledger) => override(ledger, { waiting: async () => [] }) },
  },
  {
    name: 'torn-array',
    breaks: 'the signals of an alert are stored one by one',
    seeds: 400,
    dialect: 'live',
    mutation: { ledger: storeOneByOne },
  },
  {
    name: 'count-ahead',
    breaks: 'what lies ahead of the clock counts against the limit',
    seeds: 1500,
    dialect: 'live',
    mutation: { ledger: (ledger, { file }) => countAhead(ledger, file) },
  },
  {
    name: 'pause-stops-cancels',
    breaks: 'the kill switch stops cancellations, too',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: stopCancels },
  },
  {
    name: 'forgotten-orders',
    breaks: 'a cancel_all does not hear of the orders that were placed',
    seeds: 100,
    dialect: 'documented',
    mutation: { ledger: (ledger) => override(ledger, { openOrders: async () => [] }) },
  },
  {
    name: 'ignore-pause',
    breaks: 'the kill switch is not asked',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: (ledger) => override(ledger, { readPause: async () => null }) },
  },
  {
    name: 'ignore-staleness',
    breaks: 'the age of a signal is not asked before it is sent',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: (ledger, { story }) => (story === 'execute' ? ignoreStaleness(ledger) : ledger) },
  },
  {
    name: 'ignore-limits',
    breaks: 'orders are not counted',
    seeds: 200,
    dialect: 'live',
    mutation: {
      ledger: (ledger) => override(ledger, { start: (key, step) => ledger.start(key, step, null) }),
    },
  },
  {
    name: 'new-identity-per-delivery',
    breaks: 'a resend is another signal',
    seeds: 100,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { story, process }) =>
        story === 'receive'
          ? renameDeliveries(ledger, () => rollWhole(process.stage.random, 1, 1e9))
          : ledger,
    },
  },
];
