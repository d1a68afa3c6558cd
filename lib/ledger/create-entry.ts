import type { Entry, LookupProgress, Step } from './entry.ts';
import type { NewEntry, RefusedEntry } from './ledger.ts';

/** The new entry of a signal, the same in every store. */
export function createAcceptedEntry({ signal, clientOrderId, atMs, ...alert }: NewEntry): Entry {
  const step: Step = { status: 'accepted', atMs, note: 'stored' };
  return { ...beginEntry(alert, step), signal, clientOrderId };
}

/** The entry of a refused alert, which never changes. */
export function createRefusedEntry({ step, ...alert }: RefusedEntry): Entry {
  return beginEntry(alert, step);
}

/** An entry with its first step and no other facts. */
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
    execution: null,
  };
}

/**
 * The lookup progress of an entry that has just become
 * `unknown`: its alarm is raised, and a lookup is due at once.
 */
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
