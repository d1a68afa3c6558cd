import type { Entry, Look } from './entry.ts';
import type { NewEntry, RefusedEntry } from './ledger.ts';

/** A signal's entry as it begins, in every store. */
export function createAcceptedEntry(entry: NewEntry): Entry {
  const { account, signalId, signal, clientOrderId, fingerprint, atMs } = entry;
  return {
    account,
    signalId,
    status: 'accepted',
    signal,
    clientOrderId,
    fingerprint,
    createdAtMs: atMs,
    updatedAtMs: atMs,
    steps: [{ status: 'accepted', atMs, note: 'stored' }],
    orderId: null,
    orderOpen: false,
    look: null,
  };
}

/** A refused alert's entry: all there will ever be of it. */
export function createRefusedEntry({ account, signalId, fingerprint, step }: RefusedEntry): Entry {
  return {
    account,
    signalId,
    status: 'invalid',
    signal: null,
    clientOrderId: null,
    fingerprint,
    createdAtMs: step.atMs,
    updatedAtMs: step.atMs,
    steps: [step],
    orderId: null,
    orderOpen: false,
    look: null,
  };
}

/** An entry that has just become `unknown`: somebody is told, and it is to be looked for at once. */
export function createFirstLook(atMs: number): Look {
  return {
    count: 0,
    misses: 0,
    firstMissAtMs: null,
    lastAtMs: null,
    dueAtMs: atMs,
    alarmedAtMs: atMs,
    finding: null,
  };
}
