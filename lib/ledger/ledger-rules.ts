import { RelayError } from '../base/errors.ts';
import { statusTransitions } from '../model/outcome.ts';
import type { Entry, EntryKey } from './entry.ts';
import { clockToleranceMs, limitWindowMs, type Move, type NewEntry, resendWindowMs } from './ledger.ts';

/** Those waiting signals of a market that are older than this one; all of them if it is not among them. */
export function listBefore({ signalId }: EntryKey, waiting: readonly Entry[]): readonly Entry[] {
  const own = waiting.findIndex((entry) => entry.signalId === signalId);
  return own === -1 ? waiting : waiting.slice(0, own);
}

/** Whether an event at `atMs` counts against a limit at `nowMs`. */
export function countsAt(atMs: number, nowMs: number): boolean {
  return atMs > nowMs - limitWindowMs && atMs <= nowMs + clockToleranceMs;
}

/** Whether signals count as ones that only reduce. @param entries of one alert */
export function onlyReduce(entries: readonly NewEntry[]): boolean {
  return entries.every(({ reduces }) => reduces === true);
}

/** Throws for a move that the state machine does not have, before the store is called. */
export function refuseIllegalMove(key: EntryKey, { from, step }: Move): void {
  if (statusTransitions[from].includes(step.status)) return;
  throw new RelayError('entry_conflict', `${nameOf(key)} cannot go from ${from} to ${step.status}`);
}

/** Whether an entry with the id of a new one came from other bytes. */
export function hasOtherBytes(entry: NewEntry, found: Entry): boolean {
  return found.fingerprint !== entry.fingerprint;
}

/**
 * Whether the stored entry belongs to another alert, although the id is the same. When a clock was set back so far that
 * the time between the two cannot be known, it does: a resend that is told too loudly harms nobody.
 */
export function isOtherAlert(entry: NewEntry, found: Entry): boolean {
  return hasOtherBytes(entry, found) || Math.abs(entry.atMs - found.createdAtMs) >= resendWindowMs;
}

/** When bytes arrived that identify their alert only together with that time. */
export interface BytesArrival {
  readonly atMs: number;
  /** The ids of its signals, in the order of execution. */
  readonly signalIds: readonly string[];
}

/**
 * Whether the same bytes may be a resend of that arrival. They may be when it lies in the future, because nobody knows how
 * long it is ago then: a second order is worse than an alarm.
 */
export function mayBeResend(arrival: BytesArrival, nowMs: number): boolean {
  return nowMs - arrival.atMs < resendWindowMs;
}

/** Whether the clock was set back since, so far that the arrival must be dated anew: else it would keep later alerts out. */
export function isFarAhead(arrival: BytesArrival, nowMs: number): boolean {
  return arrival.atMs - nowMs >= resendWindowMs;
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
