import type { SignalEntry } from '../ledger/entry.ts';
import { deduplicationIdOf, groupOf, type SignalMessage } from './queue.ts';
import type { Waiting } from './waiting-line.ts';

/** A signal that was handed to a worker, until it is finished or released. */
export interface SignalDelivery {
  readonly key: SignalMessage;
  /** Account and market: signals of a group are delivered one at a time, in the order in which they were stored. */
  readonly group: string;
  /** 1 at the first delivery since the relay was started. */
  readonly deliveries: number;
}

/** A signal in line. */
export interface WaitingSignal extends Waiting, SignalDelivery {
  deliveries: number;
  /** The entry as it was stored, while nothing has read or changed it since; null: read it from the database. */
  stored: SignalEntry | null;
  /** Whether this process has moved it on: it stays in line until its delivery ends. */
  hasLeft: boolean;
  /** Whether it was lost and stored again since its delivery began. */
  isStoredAgain: boolean;
  /**
   * Whether it does not wait, and is delivered all the same, because its outcome is to be recorded or its alarm repeated: it
   * was found so at the start, or its outcome could not be stored.
   */
  isLeftOver: boolean;
}

export function createWaiting(
  { account, signalId, market }: SignalMessage,
  seq: number,
  stored: SignalEntry | null,
  isAside: boolean,
): WaitingSignal {
  const key = { account, signalId, market };
  return {
    id: deduplicationIdOf(key),
    position: seq,
    group: groupOf(key),
    isAside,
    key,
    deliveries: 0,
    stored,
    hasLeft: false,
    isStoredAgain: false,
    isLeftOver: false,
  };
}
