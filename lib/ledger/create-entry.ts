import type { Entry, LookupProgress, Step } from './entry.ts';
import type { NewEntry, RefusedEntry } from './ledger.ts';

/** A signal's entry as it begins, in every store. */
export function createAcceptedEntry({ signal, clientOrderId, atMs, ...alert }: NewEntry): Entry {
  const step: Step = { status: 'accepted', atMs, note: 'stored' };
  return { ...beginEntry(alert, step), signal, clientOrderId };
}

/** A refused alert's entry: all there will ever be of it. */
export function createRefusedEntry({ step, ...alert }: RefusedEntry): Entry {
  return beginEntry(alert, step);
}

/** An entry with its first step, of which nothing else is known. */
function beginEntry({ account, signalId, fingerprint }: Omit<RefusedEntry, 'step'>, step: Step): Entry {
  return {
    account,
    signalId,
    status: step.status,
    signal: null,
    clientOrderId: null,
    fingerprint,
    createdAtMs: step.atMs,
    updatedAtMs: step.atMs,
    steps: [step],
    orderId: null,
    orderOpen: false,
    lookup: null,
  };
}

/** An entry that has just become `unknown`: somebody is told, and it is to be looked for at once. */
export function createFirstLookup(atMs: number): LookupProgress {
  return {
    count: 0,
    notFound: 0,
    firstNotFoundAtMs: null,
    lastAtMs: null,
    dueAtMs: atMs,
    alarmedAtMs: atMs,
    finding: null,
  };
}
