import { RelayError } from '../base/errors.ts';
import { statusTransitions } from '../model/outcome.ts';
import type { Entry, EntryKey } from './entry.ts';
import { clockToleranceMs, limitWindowMs, type Move, type NewEntry } from './ledger.ts';

/** Those waiting signals of a market that are older than this one; all of them if it is not among them. */
export function listBefore({ signalId }: EntryKey, waiting: readonly Entry[]): readonly Entry[] {
  const own = waiting.findIndex((entry) => entry.signalId === signalId);
  return own === -1 ? waiting : waiting.slice(0, own);
}

/** Whether an event at `atMs` counts against a limit at `nowMs`. */
export function countsAt(atMs: number, nowMs: number): boolean {
  return atMs > nowMs - limitWindowMs && atMs <= nowMs + clockToleranceMs;
}

/** Throws for a move that the state machine does not have, before the store is called. */
export function refuseIllegalMove(key: EntryKey, { from, step }: Move): void {
  if (statusTransitions[from].includes(step.status)) return;
  throw new RelayError('entry_conflict', `${nameOf(key)} cannot go from ${from} to ${step.status}`);
}

/** Whether the stored entry belongs to another alert: the bytes decide, not the id. */
export function isOtherAlert(entry: NewEntry, found: Entry): boolean {
  return found.fingerprint !== entry.fingerprint;
}

/**
 * Whether the exchange may hold an open order after a move; undefined: as before.
 *
 * Only an order that was placed, or may have been, can be open:
 * every other status closes it, even if the move does not say so.
 */
export function isOpenAfter({ step, orderOpen }: Move): boolean | undefined {
  if (step.status === 'sending') return orderOpen === true;
  return step.status === 'placed' || step.status === 'unknown' ? orderOpen : false;
}

/**
 * The error that a store throws when the entry no longer has the status the caller saw.
 *
 * @param found absent: there is no such entry
 */
export function createConflict(
  key: EntryKey,
  { from, step }: Move,
  found?: { readonly status: string },
): RelayError {
  const state = found === undefined ? 'is not in the ledger' : `is ${found.status}, no longer ${from}`;
  return new RelayError('entry_conflict', `${nameOf(key)} cannot become ${step.status}: it ${state}`);
}

function nameOf({ account, signalId }: EntryKey): string {
  return `signal "${signalId}" of account ${account}`;
}
