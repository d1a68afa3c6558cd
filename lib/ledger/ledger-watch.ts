import type { Entry, EntryKey, SignalEntry } from './entry.ts';

/** What the line of waiting signals knows of one of them. */
export interface KnownEntry {
  /** The number of its row. */
  readonly seq: number;
  /** The entry as it was stored; null: it must be read. */
  readonly stored: SignalEntry | null;
  /** Whether no older signal of its account and market waits. */
  readonly isOldest: boolean;
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
  /** Null when it does not wait. */
  find(key: EntryKey): KnownEntry | null;
}
