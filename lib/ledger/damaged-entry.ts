import { type Status, statuses } from '../model/outcome.ts';
import type { Entry } from './entry.ts';

/** What a store can tell of an entry whose texts it cannot read: what it keeps beside them. */
export type DamagedEntry = Omit<Entry, 'status' | 'signal' | 'steps' | 'look'> & { readonly status: string };

/**
 * Stands for a stored entry that cannot be read, so that the others of its page are, and so that its order, if it has
 * one, is cancelled with the others.
 *
 * Its status is what the store says, if that is one; else `unknown`.
 */
export function createDamagedEntry(damaged: DamagedEntry): Entry {
  const status: Status = statuses.find((known) => known === damaged.status) ?? 'unknown';
  const note = 'damaged in the store, cannot be read: compare with the exchange by hand';
  const steps = [{ status, atMs: damaged.updatedAtMs, note }];
  return { ...damaged, status, signal: null, steps, look: null };
}

/** @throws RangeError when it is none: whoever wrote it, this release did not */
export function readStatus(text: string): Status {
  const status = statuses.find((known) => known === text);
  if (status === undefined) throw new RangeError(`"${text.slice(0, 64)}" is no status`);
  return status;
}
