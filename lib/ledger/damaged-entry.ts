import { RelayError } from '../base/errors.ts';
import { type Status, statuses } from '../model/outcome.ts';
import type { Entry, EntryKey } from './entry.ts';

/** What a store can tell of an entry whose texts it cannot read: what it keeps beside them. */
export type DamagedEntry = Omit<Entry, 'status' | 'signal' | 'steps' | 'lookup'> & {
  readonly status: string;
};

/**
 * Stands for a stored entry that cannot be read, so that the others of its page are, and so that its order, if it has
 * one, is cancelled with the others.
 *
 * Its status is what the store says, if that is one; else `unknown`.
 */
export function createDamagedEntry(damaged: DamagedEntry): Entry {
  const status = findStatus(damaged.status) ?? 'unknown';
  const note = 'damaged in the store, cannot be read: compare with the exchange by hand';
  const steps = [{ status, atMs: damaged.updatedAtMs, note }];
  return { ...damaged, status, signal: null, steps, lookup: null };
}

/** What a store throws when it is asked for an entry alone that it cannot read. */
export function createDamage({ account, signalId }: EntryKey, cause: unknown): RelayError {
  const message = `the entry of signal "${signalId}" of account ${account} cannot be read`;
  return new RelayError('entry_damaged', message, { cause });
}

/** @throws RangeError when it is none: whoever wrote it, this release did not */
export function readStatus(text: string): Status {
  const status = findStatus(text);
  if (status === undefined) throw new RangeError(`"${text.slice(0, 64)}" is no status`);
  return status;
}

function findStatus(text: string): Status | undefined {
  return statuses.find((known) => known === text);
}
