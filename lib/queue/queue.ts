import * as z from 'zod';
import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';

/** A pointer to a stored signal; the ledger has the rest. */
export interface SignalMessage {
  readonly account: string;
  readonly signalId: string;
  readonly market: string;
}

const SignalMessageSchema = z.strictObject({
  account: z.string(),
  signalId: z.string(),
  market: z.string(),
});

/**
 * Reads the body of a message.
 *
 * @throws RelayError `message_invalid` when it is none of ours; it will end as a dead letter
 */
export function parseSignalMessage(body: string): SignalMessage {
  const { data, error } = SignalMessageSchema.safeParse(readJson(body));
  if (data !== undefined) return data;
  throw new RelayError('message_invalid', 'the message is not a pointer to a signal', { cause: error });
}

/** Where signals wait between the door and the exchange. */
export interface SignalQueue {
  /**
   * Puts the message at the end of its group (account and market). A message with the same account and signal id
   * that still waits is not doubled. When this resolves, the message survives a crash.
   *
   * @throws RelayError `store_unavailable` when it was not stored
   */
  enqueue(message: SignalMessage): Promise<void>;
}

/** A message handed out, until it is deleted or released. */
export interface Delivery {
  readonly receipt: string;
  readonly group: string;
  readonly body: string;
  /** 1 at the first hand-out. */
  readonly receiveCount: number;
  readonly sentAtMs: number;
}

/**
 * The other end of the queue: what hands messages to the worker. On AWS the service does this; in a local run the
 * relay does.
 */
export interface SignalSource {
  /** The oldest free messages of one free group, in order; empty when no group has any. */
  receive(maxMessages: number): Promise<readonly Delivery[]>;
  /** Takes handled messages off the queue. */
  remove(receipts: readonly string[]): Promise<void>;
  /** Puts messages back in their places; after too many hand-outs they become dead letters instead. */
  release(receipts: readonly string[]): Promise<void>;
  /** Resolves as soon as `receive` may have something to hand out, or when the signal aborts. */
  waitForWork(signal?: AbortSignal): Promise<void>;
}

/**
 * Has a message that was handed out, and not handled, come again after that pause instead of the queue's own.
 *
 * @throws RelayError `store_unavailable` when the queue could not be told; the message comes again all the same, later
 */
export type PostponeMessage = (receipt: string, pauseMs: number) => Promise<void>;

/** The group whose messages are handled strictly in order. */
export function groupOf(message: SignalMessage): string {
  return `${message.account}.${message.market}`;
}

/** One string per signal, for the queue to tell doubles by. */
export function deduplicationIdOf(message: SignalMessage): string {
  return `${message.account}.${message.signalId}`;
}
