import type { Json } from '../base/json.ts';
import type { Execution } from '../model/execution.ts';
import type { Status } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import type { StepFacts } from '../model/step-facts.ts';

/** The key of an entry: the account and the signal's id within it. */
export interface EntryKey {
  readonly account: string;
  /** The id in the alert, or one derived from its bytes. */
  readonly signalId: string;
}

/** The history of one signal. Plain JSON, so that every store keeps it in the same form. */
export interface Entry extends EntryKey {
  readonly status: Status;
  /** Null for a refused alert, of which only the reasons are kept. */
  readonly signal: Signal | null;
  /** Null for refused alerts and for cancellations. */
  readonly clientOrderId: string | null;
  /** SHA-256 of the received bytes, in hex: distinguishes a resend from another alert with the same id. */
  readonly fingerprint: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Every status so far, oldest first. */
  readonly steps: readonly Step[];
  /** The exchange's id of the order, once known. */
  readonly orderId: number | null;
  /**
   * Whether the exchange holds or may hold an open order of this
   * signal; true also while the order is being sent.
   */
  readonly orderOpen: boolean;
  /** The progress of the lookups; null for an entry that was never `unknown`. */
  readonly lookup: LookupProgress | null;
  /** What became of its orders; null until something was read. */
  readonly execution: Execution | null;
}

/** What the message of an alert said, without secrets. It is kept beside the entry, and nothing decides by it. */
export interface ReceivedMessage {
  readonly text: string;
  /** How many bytes at its end were not kept. */
  readonly omittedBytes: number;
}

/** The entry of a valid alert: an order or a cancellation. */
export interface SignalEntry extends Entry {
  readonly signal: Signal;
}

export function isSignal(entry: Entry): entry is SignalEntry {
  return entry.signal !== null;
}

/** The progress of the lookups of an order whose response was lost. */
export interface LookupProgress {
  /** How often it was looked up. */
  readonly count: number;
  /** How many lookups did not find it; an inconclusive lookup does not count. */
  readonly notFound: number;
  readonly firstNotFoundAtMs: number | null;
  readonly lastAtMs: number | null;
  /** When the next lookup is due. */
  readonly dueAtMs: number;
  /** When the alarm of its unknown outcome was last raised. */
  readonly alarmedAtMs: number;
  /** The result of the last lookup, in one sentence; null before the first. */
  readonly finding: string | null;
}

/** One status of an entry, with its reason and evidence. */
export interface Step {
  readonly status: Status;
  readonly atMs: number;
  /** Who settled it, if not receive-signal or execute-signal: the reconciler or the name of an operator. */
  readonly by?: string;
  /** One sentence for the operator; never contains a secret or a raw body. */
  readonly note: string;
  /** What explains it to people, such as the rule and both values, or the request of a dry run. Nothing decides by it. */
  readonly evidence?: Json;
  /** What decides. Absent: the step says nothing of an order. */
  readonly facts?: StepFacts;
}
