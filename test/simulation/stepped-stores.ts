import { parseReading } from '../../lib/account/read-positions.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import { type Entry, type EntryKey, isSignal } from '../../lib/ledger/entry.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger, Move } from '../../lib/ledger/ledger.ts';
import type { MarketCopies } from '../../lib/ledger/market-copies.ts';
import { fillNameOf } from '../../lib/model/execution.ts';
import type { SignalMessage, SignalQueue } from '../../lib/queue/queue.ts';
import { keyText } from './history.ts';
import { currentInvocation, type Process } from './process.ts';

/**
 * The ledger as one process uses it: every method is a step that may fail, and every status change is
 * recorded.
 */
export function createSteppedLedger(process: Process, ledger: Ledger): Ledger {
  const { loop, history } = process.stage;

  /** Records the present status of the entry, also while that can still be lost. */
  async function noteEntry(key: EntryKey): Promise<Entry | null> {
    // A reading of the entry alone would wait until it is on the disk.
    const [first] = await ledger.findByPrefix(key.account, key.signalId, 1);
    const entry = first?.signalId === key.signalId ? first : null;
    if (entry !== null) history.noteEntry(entry, loop.nowMs);
    return entry;
  }

  async function noteStored(key: EntryKey, place: number): Promise<void> {
    const entry = await noteEntry(key);
    if (entry !== null && isSignal(entry)) history.noteStored(key, place);
  }

  /** A step on one entry; the status of the entry is recorded at the moment when the step takes effect. */
  function stepOn<T>(name: string, key: EntryKey, detail: string, operate: () => Promise<T>): Promise<T> {
    return process.step(`ledger.${name}`, `${keyText(key)}${detail}`, async () => {
      try {
        return await operate();
      } finally {
        await noteEntry(key);
      }
    });
  }

  return {
    accept: (entries, limit) =>
      process.step('ledger.accept', entries.map(keyText).join(', '), async () => {
        const places = entries.map(() => history.nextPlace());
        try {
          return await ledger.accept(entries, limit);
        } finally {
          for (const [index, entry] of entries.entries()) await noteStored(entry, places[index] ?? 0);
        }
      }),
    refuse: (entry) => stepOn('refuse', entry, '', () => ledger.refuse(entry)),
    start: (key, step, limit) =>
      stepOn('start', key, '', async () => {
        noteSender(key);
        const decided = { atMs: loop.nowMs, invocation: currentInvocation() };
        if (!history.started.has(keyText(key))) history.started.set(keyText(key), decided);
        return await ledger.start(key, step, limit);
      }),
    move: (key, move) =>
      stepOn('move', key, ` → ${move.step.status}`, async () => {
        // It is decided now; a process that stands still may know much later that it is stored.
        const decidedAtMs = loop.nowMs;
        const moved = await ledger.move(key, move);
        noteSettled(key);
        noteUnsent(process, key, move);
        noteSatisfied(process, key, move, decidedAtMs);
        return moved;
      }),
    closeOrder: (key) => stepOn('closeOrder', key, '', () => ledger.closeOrder(key)),
    postpone: (key, seen, lookup) => stepOn('postpone', key, '', () => ledger.postpone(key, seen, lookup)),
    readMessage: (entry) =>
      process.step('ledger.readMessage', keyText(entry), () => ledger.readMessage(entry)),
    readDue: (key, mostEarlier) =>
      process.step('ledger.readDue', keyText(key), () => ledger.readDue(key, mostEarlier)),
    read: (key) =>
      process.step('ledger.read', keyText(key), async () => {
        const entry = await ledger.read(key);
        // An earlier signal is read before it is executed, and may cancel entries before it is started.
        if (entry?.status === 'accepted') noteSender(key);
        return entry;
      }),
    findByPrefix: (account, prefix, limit) =>
      process.step('ledger.findByPrefix', `${account} ${prefix}`, () =>
        ledger.findByPrefix(account, prefix, limit),
      ),
    list: (query) => process.step('ledger.list', query.status ?? '', () => ledger.list(query)),
    dueLookups: (nowMs, limit) =>
      process.step('ledger.dueLookups', '', () => ledger.dueLookups(nowMs, limit)),
    waiting: (account, market, limit) =>
      process.step('ledger.waiting', `${account} ${market}`, () => ledger.waiting(account, market, limit)),
    findOrder: (account, market, orderId) =>
      process.step('ledger.findOrder', `${account} ${market} ${orderId}`, () =>
        ledger.findOrder(account, market, orderId),
      ),
    openOrders: (account, market, limit) =>
      process.step('ledger.openOrders', `${account} ${market}`, () =>
        ledger.openOrders(account, market, limit),
      ),
    readPause: (account) => process.step('ledger.readPause', account, () => ledger.readPause(account)),
    writePause: (account, pause) =>
      process.step('ledger.writePause', account, () => ledger.writePause(account, pause)),
    pauseRunning: (account, pause) =>
      process.step('ledger.pauseRunning', account, () => ledger.pauseRunning(account, pause)),
  };
}

/**
 * From now on, requests of this invocation belong to this signal, whichever message started the invocation.
 */
function noteSender(key: EntryKey): void {
  const invocation = currentInvocation();
  if (invocation !== null) invocation.sender = key;
}

/** From now on, they belong again to the signal whose message started it. */
function noteSettled(key: EntryKey): void {
  const invocation = currentInvocation();
  if (invocation?.sender !== undefined && keyText(invocation.sender) === keyText(key))
    delete invocation.sender;
}

/** Records the invocation and process in which an order could not be prepared. */
function noteUnsent({ name, stage }: Process, key: EntryKey, { step }: Move): void {
  const invocation = currentInvocation();
  if (step.status !== 'not_sent' || invocation === null) return;
  stage.history.unsent.set(keyText(key), {
    note: step.note,
    process: name,
    startedAtMs: invocation.startedAtMs,
  });
}

/** Records the invocation that found a position as wanted. */
function noteSatisfied({ stage }: Process, key: EntryKey, { step }: Move, decidedAtMs: number): void {
  if (step.status !== 'satisfied') return;
  stage.history.satisfied.set(keyText(key), { atMs: decidedAtMs, invocation: currentInvocation() });
}

/** The store of executions as one process uses it. */
export function createSteppedExecutions(process: Process, executions: Executions): Executions {
  return {
    followed: (account, limit) =>
      process.step('executions.followed', account, () => executions.followed(account, limit)),
    record: (key, execution, fills) =>
      process.step('executions.record', `${keyText(key)} ${execution.revision}`, async () => {
        const isRecorded = await executions.record(key, execution, fills);
        const { history, loop } = process.stage;
        for (const { dealId } of fills) history.storedDeals.set(dealId, loop.nowMs);
        return isRecorded;
      }),
    recordOthers: (fills) =>
      process.step('executions.recordOthers', fills.map(fillNameOf).join(', '), async () => {
        await executions.recordOthers(fills);
        const { history, loop } = process.stage;
        for (const { account, dealId } of fills) {
          const name = `${account} ${dealId}`;
          history.storedOthers.set(name, history.storedOthers.get(name) ?? loop.nowMs);
        }
      }),
    keptFromMs: (nowMs) => executions.keptFromMs(nowMs),
    listFills: (query) =>
      process.step('executions.listFills', query.account, () => executions.listFills(query)),
  };
}

/** The store of facts as one process uses it. */
export function createSteppedFacts(process: Process, facts: ContestedFacts): ContestedFacts {
  const { loop, history } = process.stage;
  return {
    read: (account, name) =>
      process.step('facts.read', `${account} ${name}`, () => facts.read(account, name)),
    write: (account, name, fact) =>
      process.step('facts.write', `${account} ${name}`, async () => {
        await facts.write(account, name, fact);
        const reading = name === 'positions' ? parseReading(fact) : null;
        if (reading !== null) history.keptPositions.push({ account, atMs: loop.nowMs, ...reading });
      }),
    replace: (account, name, fact, was) =>
      process.step('facts.write', `${account} ${name}`, () => facts.replace(account, name, fact, was)),
  };
}

/** The store of market list copies as one process uses it. */
export function createSteppedCopies(process: Process, copies: MarketCopies): MarketCopies {
  const { loop, history } = process.stage;
  return {
    async load() {
      try {
        return await process.step('markets.load', '', () => copies.load());
      } catch (error) {
        history.failedLoads.add(process.name);
        throw error;
      }
    },
    save: (copy) =>
      process.step('markets.save', '', async () => {
        await copies.save(copy);
        const names = copy.markets.map(({ name }) => name);
        history.keptMarkets.push({ atMs: loop.nowMs, names });
      }),
  };
}

/** The queue as the webhook and the sweeps use it. */
export function createSteppedQueue(process: Process, queue: SignalQueue): SignalQueue {
  return {
    enqueue: (message: SignalMessage, attempt?: string) =>
      process.step('queue.enqueue', keyText(message), () => queue.enqueue(message, attempt)),
  };
}
