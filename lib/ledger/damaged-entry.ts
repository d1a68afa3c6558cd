import { RelayError } from '../base/errors.ts';
import { type Status, statuses } from '../model/outcome.ts';
import type { Entry, EntryKey } from './entry.ts';

/**
 * The attributes of an entry whose JSON texts cannot be read; stores keep these attributes separately.
 *
 * @see DECISIONS 75
 */
export type DamagedEntry = Omit<Entry, 'status' | 'signal' | 'steps' | 'lookup' | 'execution'> & {
  readonly status: string;
};

/**
 * Creates a substitute for a stored entry that cannot be read. The other entries of its page stay readable,
 * and its order, if it has one, is cancelled with the others.
 *
 * Its status is the stored one if that is valid, else `unknown`.
 */
export function createDamagedEntry(damaged: DamagedEntry): Entry {
  const status = findStatus(damaged.status) ?? 'unknown';
  const note = 'damaged in the store, cannot be read: compare with the exchange by hand';
  const steps = [{ status, atMs: damaged.updatedAtMs, note }];
  return { ...damaged, status, signal: null, steps, lookup: null, execution: null };
}

/** The error that a store throws when it reads a single entry and the entry is damaged. */
export function createDamage({ account, signalId }: EntryKey, cause: unknown): RelayError {
  const message = `the entry of signal "${signalId}" of account ${account} cannot be read`;
  return new RelayError('entry_damaged', message, { cause });
}

/** @throws RangeError when the text is no status of this release */
export function readStatus(text: string): Status {
  const status = findStatus(text);
  if (status === undefined) throw new RangeError(`"${text.slice(0, 64)}" is not a status`);
  return status;
}

function findStatus(text: string): Status | undefined {
  return statuses.find((known) => known === text);
}
