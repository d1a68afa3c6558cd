import type { Json } from '../base/json.ts';
import type { Status } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';

/** What names an entry: the account and the signal's id within it. */
export interface EntryKey {
  readonly account: string;
  /** The alert's own id, or one derived from its bytes. */
  readonly signalId: string;
}

/** The story of one signal. Plain JSON, so that every store keeps it alike. */
export interface Entry extends EntryKey {
  readonly status: Status;
  /** Null for a refused alert, of which nothing but the reasons is kept. */
  readonly signal: Signal | null;
  /** Null for refused alerts and for cancellations. */
  readonly clientOrderId: string | null;
  /** SHA-256 of the bytes that came, in hex: tells a resend from another alert under the same id. */
  readonly fingerprint: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Every status it went through, oldest first. */
  readonly steps: readonly Step[];
  /** The exchange's id of the order, once known. */
  readonly orderId: number | null;
  /** Whether, as far as the ledger knows, the exchange holds an order of this signal, or may: one that is being sent, too. */
  readonly orderOpen: boolean;
  /** How far looking the order up has come; null for an entry that was never `unknown`. */
  readonly lookup: LookupProgress | null;
}

/** An entry of an alert that was understood: an order or a cancellation. */
export interface SignalEntry extends Entry {
  readonly signal: Signal;
}

export function isSignal(entry: Entry): entry is SignalEntry {
  return entry.signal !== null;
}

/** How far looking up an order whose response was lost has come. */
export interface LookupProgress {
  /** How often it was looked up. */
  readonly count: number;
  /** How many lookups did not find it; an inconclusive lookup does not count. */
  readonly notFound: number;
  readonly firstNotFoundAtMs: number | null;
  readonly lastAtMs: number | null;
  /** When it is to be looked up next. */
  readonly dueAtMs: number;
  /** When the alarm of its unknown outcome was last raised. */
  readonly alarmedAtMs: number;
  /** What the last lookup found, in one sentence; null before the first. */
  readonly finding: string | null;
}

/** One move of an entry, with why and on what evidence. */
export interface Step {
  readonly status: Status;
  readonly atMs: number;
  /** Who settled it, where that was not the relay on its way: the reconciler, or an operator's name. */
  readonly by?: string;
  /** One sentence for people; never a secret, never a raw body. */
  readonly note: string;
  /** Facts for programs: the rule and both values, the exchange's code, the request that would have gone. */
  readonly evidence?: Json;
}
