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
import { formatLookup } from '../../lib/ledger/stored-entry.ts';
import type { Status } from '../../lib/model/outcome.ts';
import { isReduction } from '../../lib/model/signal.ts';
import { override } from '../support/override.ts';
import { rollWhole } from './dice.ts';
import { keyText } from './history.ts';
import type { Mutant, MutationTools } from './mutation.ts';

/** Writes `sending` only together with the outcome. */
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

/** A worker that finds `sending` continues as if no other worker had started. */
function ignoreLease(ledger: Ledger): Ledger {
  const misread = changeEntries(ledger, (entry) =>
    entry.status === 'sending' ? { ...entry, status: 'accepted' } : entry,
  );
  return override(misread, {
    start: (key, step, limit) => startRegardless(ledger, key, step, limit),
  });
}

async function startRegardless(ledger: Ledger, key: EntryKey, step: Step, limit: MinuteLimit | null) {
  const started = await ledger.start(key, step, limit);
  return started.result === 'conflict' ? ({ result: 'started' } as const) : started;
}

/** Writes the outcome whatever the status of the entry is. */
function settleBlindly(ledger: Ledger, { file, process }: MutationTools): Ledger {
  return override(ledger, {
    move: (key, move) =>
      process.step('ledger.move', `${keyText(key)} → ${move.step.status}`, async () => {
        overwrite(file, key, move);
        process.stage.history.noteStatus(key, move.step.status, process.stage.loop.nowMs);
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
         look = coalesce(?8, look), look_due_at_ms = iif(?8 IS NULL, NULL, ?4)
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
      isUnknown ? formatLookup(createFirstLookup(step.atMs)) : null,
    );
}

/** Treats every signal as fresh, whatever its age. */
function ignoreStaleness(ledger: Ledger): Ledger {
  return changeEntries(ledger, (entry) =>
    entry.signal === null
      ? entry
      : { ...entry, signal: { ...entry.signal, maxLagMs: Number.MAX_SAFE_INTEGER / 2 } },
  );
}

/** Changes what is read before a signal is executed. */
export function changeEntries(ledger: Ledger, change: (entry: Entry) => Entry): Ledger {
  return override(ledger, {
    async read(key) {
      const entry = await ledger.read(key);
      return entry === null ? null : change(entry);
    },
    async readDue(key, mostEarlier) {
      const due = await ledger.readDue(key, mostEarlier);
      return due.entry === null ? due : { ...due, entry: change(due.entry) };
    },
  });
}

/** Gives the same bytes a new signal id with every delivery. */
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

/** Concludes from the first lookup that finds nothing. */
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

/** Stores the signals of an alert one after the other, as if they were separate alerts. */
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

/** Counts signals with times in the future against the limit. */
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

/** Denies cancellations while the account is paused. */
function stopCancels(ledger: Ledger): Ledger {
  return override(ledger, {
    async start(key, step, limit) {
      const entry = await ledger.read(key);
      const isStopped = entry?.clientOrderId === null && (await ledger.readPause(key.account)) !== null;
      if (!isStopped) return await ledger.start(key, step, limit);
      const evidence = { rule: 'paused' };
      const denied: Step = { status: 'denied', atMs: step.atMs, note: 'paused', evidence };
      await ledger.move(key, { from: 'accepted', step: denied });
      return { result: 'conflict', entry: { ...entry, status: 'denied' } };
    },
  });
}

/** Withdraws the exits that wait before a cancellation of all orders. */
function withdrawExits(ledger: Ledger): Ledger {
  return override(ledger, {
    async readDue(key, mostEarlier) {
      const due = await ledger.readDue(key, mostEarlier);
      if (due.entry?.signal?.action !== 'cancel_all') return due;
      for (const exit of due.earlier.filter(({ signal }) => signal !== null && isReduction(signal))) {
        const step: Step = {
          status: 'cancelled',
          atMs: exit.createdAtMs,
          note: 'withdrawn',
          evidence: { withdrawnBy: key.signalId },
        };
        await ledger.move(exit, { from: 'accepted', step });
      }
      return await ledger.readDue(key, mostEarlier);
    },
  });
}

/** Does not wait for the flush of those operations. */
function acknowledgeUnflushed(file: SqliteFile, isHasty: (result: unknown) => boolean): SqliteFile {
  return {
    database: file.database,
    execute(operation) {
      const executed = file.execute(operation);
      return isHasty(executed.result) ? { ...executed, durable: Promise.resolve() } : executed;
    },
    insist: (operation, committed) => file.insist(operation, committed),
    write: (operation) => file.write(operation),
    read: (query) => file.read(query),
    readDurable: (query) => file.readDurable(query),
    flushed: () => file.flushed(),
    close: () => file.close(),
  };
}

function isStarted(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'result' in result && result.result === 'started';
}

/** Signals that were stored before the one to be executed are not seen. */
export function overlookEarlier(ledger: Ledger): Ledger {
  return override(ledger, {
    waiting: async () => [],
    readDue: async (key, mostEarlier) => ({ ...(await ledger.readDue(key, mostEarlier)), earlier: [] }),
  });
}

function overlookPause(ledger: Ledger): Ledger {
  return override(ledger, {
    readPause: async () => null,
    readDue: async (key, mostEarlier) => ({ ...(await ledger.readDue(key, mostEarlier)), pause: null }),
  });
}

/** Hides all entries of that status from listings. */
function hideStatus(ledger: Ledger, status: Status): Ledger {
  return override(ledger, {
    list: (query) =>
      query.status === status
        ? Promise.resolve({ entries: [], cursors: [], next: null })
        : ledger.list(query),
  });
}

/** Broken variants of the relay that misuse the ledger. */
export const ledgerMutants: readonly Mutant[] = [
  {
    name: 'write-after-send',
    breaks: '"sending" is not written before the request is sent',
    seeds: 100,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName }) => (handlerName === 'execute' ? writeAfterSend(ledger) : ledger),
    },
  },
  {
    name: 'ignore-lease',
    breaks: 'a redelivery that finds "sending" sends the order again',
    seeds: 100,
    fromSeed: 19,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName }) => (handlerName === 'execute' ? ignoreLease(ledger) : ledger),
    },
  },
  {
    name: 'ignore-conflict',
    breaks: 'a worker that lost the race to write "sending" still sends',
    seeds: 300,
    fromSeed: 27,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName }) =>
        handlerName === 'execute'
          ? override(ledger, { start: (key, step, limit) => startRegardless(ledger, key, step, limit) })
          : ledger,
    },
  },
  {
    name: 'blind-settling',
    breaks: 'an outcome is written whatever the status of the entry is',
    seeds: 100,
    dialect: 'live',
    mutation: { ledger: settleBlindly },
  },
  {
    name: 'hasty-not-found',
    breaks: 'the first lookup that finds no order is final',
    seeds: 3000,
    fromSeed: 891,
    dialect: 'live',
    mutation: { ledger: concludeHastily },
  },
  {
    name: 'no-sweep',
    breaks: 'stored signals that were never enqueued are not swept',
    seeds: 200,
    fromSeed: 21,
    dialect: 'live',
    mutation: { ledger: (ledger) => hideStatus(ledger, 'accepted') },
  },
  {
    name: 'no-take-over',
    breaks: 'entries of a dead worker stay "sending"',
    seeds: 200,
    fromSeed: 105,
    dialect: 'documented',
    mutation: { ledger: (ledger) => hideStatus(ledger, 'sending') },
  },
  {
    name: 'unseen-waiting',
    breaks: 'earlier signals that wait without a message are not executed first',
    seeds: 1500,
    fromSeed: 319,
    dialect: 'live',
    mutation: { ledger: overlookEarlier },
  },
  {
    name: 'torn-array',
    breaks: 'the signals of an alert are stored one by one',
    seeds: 400,
    fromSeed: 139,
    dialect: 'live',
    mutation: { ledger: storeOneByOne },
  },
  {
    name: 'count-ahead',
    breaks: 'signals with times in the future count against the limit',
    seeds: 1500,
    fromSeed: 338,
    dialect: 'live',
    mutation: { ledger: (ledger, { file }) => countAhead(ledger, file) },
  },
  {
    name: 'pause-stops-cancels',
    breaks: 'the kill switch also stops cancellations',
    seeds: 100,
    fromSeed: 39,
    dialect: 'live',
    mutation: { ledger: stopCancels },
  },
  {
    name: 'withdrawn-exits',
    breaks: 'a cancel_all withdraws the exits that wait before it',
    seeds: 300,
    fromSeed: 406,
    dialect: 'live',
    kinds: [],
    mutation: { ledger: withdrawExits },
  },
  {
    name: 'forgotten-orders',
    breaks: 'a cancel_all does not know the orders that were placed',
    seeds: 300,
    fromSeed: 196,
    dialect: 'documented',
    // Where the exchange lists its open orders, the list names them; the written API has no such list.
    kinds: ['stop_limit'],
    mutation: { ledger: (ledger) => override(ledger, { openOrders: async () => [] }) },
  },
  {
    name: 'acknowledge-before-flush',
    breaks: 'an alert is acknowledged before its signals are on the disk',
    seeds: 300,
    dialect: 'live',
    // The rows of a new alert.
    mutation: { file: (file) => acknowledgeUnflushed(file, Array.isArray) },
  },
  {
    name: 'send-before-flush',
    breaks: 'an order is sent before "sending" is on the disk',
    seeds: 300,
    fromSeed: 551,
    dialect: 'live',
    mutation: { file: (file) => acknowledgeUnflushed(file, isStarted) },
  },
  {
    name: 'ignore-pause',
    breaks: 'the kill switch is not checked',
    seeds: 300,
    fromSeed: 124,
    dialect: 'live',
    mutation: { ledger: overlookPause },
  },
  {
    name: 'ignore-staleness',
    breaks: 'the age of a signal is not checked before it is sent',
    seeds: 100,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName }) => (handlerName === 'execute' ? ignoreStaleness(ledger) : ledger),
    },
  },
  {
    name: 'ignore-limits',
    breaks: 'orders are not counted against the limit',
    seeds: 3000,
    fromSeed: 91,
    dialect: 'live',
    mutation: {
      ledger: (ledger) => override(ledger, { start: (key, step) => ledger.start(key, step, null) }),
    },
  },
  {
    name: 'new-identity-per-delivery',
    breaks: 'a resend counts as a new signal',
    seeds: 100,
    fromSeed: 21,
    dialect: 'live',
    mutation: {
      ledger: (ledger, { handlerName, process }) =>
        handlerName === 'receive'
          ? renameDeliveries(ledger, () => rollWhole(process.stage.random, 1, 1e9))
          : ledger,
    },
  },
];
