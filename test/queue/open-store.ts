import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import type { Ledger, NewEntry } from '../../lib/ledger/ledger.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import type { SignalMessage } from '../../lib/queue/queue.ts';
import { createSqliteLine, type SqliteLine } from '../../lib/queue/sqlite-line.ts';
import type { SignalDelivery } from '../../lib/queue/waiting-signal.ts';
import { orderEntry, signal } from '../ledger/ledger-contract.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

export const noonMs = 1_767_268_800_000;
/** After this many deliveries a signal of these stores becomes a dead letter. */
export const maxDeliveries = 3;
const retryDelayMs = 750;

/** An embedded ledger and its line of waiting signals, as one process has them. */
export interface OpenStore {
  readonly file: SqliteFile;
  readonly ledger: Ledger;
  readonly line: SqliteLine;
  /** Time stands until a test moves it. */
  readonly clock: ManualClock;
  /** The groups of the signals that became dead letters. */
  readonly buried: readonly string[];
}

/** @param path absent: in memory */
export function openStore(path = ':memory:'): OpenStore {
  const file = openSqlite(path);
  const clock = createManualClock(noonMs, { jumps: false });
  const buried: string[] = [];
  const onDeadLetter = ({ group }: { readonly group: string }) => void buried.push(group);
  const line = createSqliteLine(file, { clock, maxDeliveries, retryDelayMs, onDeadLetter });
  return { file, line, clock, buried, ledger: createSqliteLedger(file, line) };
}

/** A new order of the account `main`. */
export function orderIn(signalId: string, market = 'BTC_USDT', account = 'main'): NewEntry {
  return orderEntry(signalId, { account, signal: { ...signal, market } });
}

export function keyOf(signalId: string, market = 'BTC_USDT'): SignalMessage {
  return { account: 'main', signalId, market };
}

/** Delivers everything that can be delivered now, and keeps it. */
export function takeAll({ line }: Pick<OpenStore, 'line'>): readonly SignalDelivery[] {
  const all: SignalDelivery[] = [];
  for (let next = line.take(); next !== null; next = line.take()) all.push(next);
  return all;
}

/** Delivers everything, denies each signal and ends its delivery; its ids in the order of delivery. */
export async function drain({ line, ledger }: OpenStore): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let next = line.take(); next !== null; next = line.take()) {
    ids.push(next.key.signalId);
    await deny(ledger, next.key);
    line.finish(next);
  }
  return ids;
}

export async function deny(ledger: Ledger, key: SignalMessage): Promise<void> {
  await ledger.move(key, { from: 'accepted', step: { status: 'denied', atMs: noonMs, note: '' } });
}

export const idsOf = (deliveries: readonly SignalDelivery[]) => deliveries.map(({ key }) => key.signalId);

/** Lets the pause pass after which a group delivers again. */
export async function rest({ clock }: OpenStore): Promise<void> {
  clock.advance(retryDelayMs);
  // The line learns of it in the microtasks before the next turn.
  await new Promise((resolve) => setImmediate(resolve));
}

/** Delivers the only waiting signal until it is a dead letter. */
export async function bury(store: OpenStore): Promise<void> {
  for (let count = 0; count < maxDeliveries; count += 1) {
    const delivery = store.line.take();
    if (delivery === null) throw new Error('nothing is delivered');
    await store.line.release(delivery);
    await rest(store);
  }
}
