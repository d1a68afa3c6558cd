import { type Status, statuses } from '../model/outcome.ts';
import type { Entry, EntryKey } from './entry.ts';

/** What a store can tell of an entry whose text it cannot read. */
export interface DamagedEntry extends EntryKey {
  readonly status: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * Stands for a stored entry that cannot be read, so that the others of its page are.
 *
 * Its status is what the store says, if that is one; else `unknown`.
 */
export function createDamagedEntry(damaged: DamagedEntry): Entry {
  const status: Status = statuses.find((known) => known === damaged.status) ?? 'unknown';
  const note = 'the stored entry is damaged and cannot be read: compare with the exchange by hand';
  return {
    account: damaged.account,
    signalId: damaged.signalId,
    status,
    signal: null,
    clientOrderId: null,
    fingerprint: '',
    createdAtMs: damaged.createdAtMs,
    updatedAtMs: damaged.updatedAtMs,
    steps: [{ status, atMs: damaged.updatedAtMs, note }],
    orderId: null,
    orderOpen: false,
    look: null,
  };
}
