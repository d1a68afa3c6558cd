import { RelayError } from '../base/errors.ts';
import type { Entry, EntryKey, SignalEntry } from './entry.ts';
import type { NewEntry } from './ledger.ts';
import { hasOtherBytes } from './ledger-rules.ts';

/** What the line of waiting signals knows of one of them. */
export interface KnownEntry {
  /** The number of its row. */
  readonly seq: number;
  /** The entry as it was stored; null: it must be read. */
  readonly stored: SignalEntry | null;
  /** Whether no older signal of its account and market waits. */
  readonly isOldest: boolean;
  /** Whether a worker executes it since before it was stored in this row: its first write was lost. */
  readonly isStoredAgain: boolean;
}

/**
 * Follows the `accepted` entries of an embedded ledger, so that the line of waiting signals needs no store of its own.
 * The ledger reports each write as soon as it is executed, which is before it is on the disk.
 */
export interface LedgerWatch {
  /** @param seq the number of its row: numbers grow in the order in which entries are stored */
  added(entry: Entry, seq: number): void;
  /** The entry is no longer `accepted`. */
  left(key: EntryKey): void;
  /** Reported writes were undone: what is `accepted` must be read anew. */
  reload(): void;
  /** The numbers of the rows of a market that wait, oldest first; at most `limit`. */
  listWaiting(account: string, market: string, limit: number): readonly number[];
  /** Null when it does not wait. */
  find(key: EntryKey): KnownEntry | null;
}

/**
 * To be called for an entry that was not stored before. Throws while a worker may still execute another alert with its id,
 * whose write was lost: it would take the new entry for that one, and send the wrong order.
 *
 * @param held what waits under its id
 * @throws RelayError `store_unavailable`
 */
export function refuseWhileHeld(entry: NewEntry, held: Entry | null): void {
  if (held === null || !hasOtherBytes(entry, held)) return;
  const { account, signalId } = entry;
  throw new RelayError(
    'store_unavailable',
    `another alert with the id "${signalId}" of account ${account} could not be stored, and its execution has not ended`,
  );
}

/**
 * To be called before a signal is sent. Throws when its worker began with a write that was lost, and others of its market were
 * stored before it was stored again: they come first.
 *
 * @throws RelayError `earlier_signals_wait`
 */
export function refuseOvertaking({ account, signalId }: EntryKey, known: KnownEntry | null): void {
  if (known === null || known.isOldest || !known.isStoredAgain) return;
  throw new RelayError(
    'earlier_signals_wait',
    `signal "${signalId}" of account ${account} was stored again after others of its market, which are executed first`,
  );
}
