/** A pointer to a signal that the ledger stores. */
export interface SignalMessage {
  readonly account: string;
  readonly signalId: string;
  readonly market: string;
}

/** The queue of stored signals that wait to be executed. */
export interface SignalQueue {
  /**
   * Puts the message at the end of its group (account and market), unless a message with the same account and
   * signal id is still waiting. Once this resolves, the message survives a crash.
   *
   * @throws RelayError `store_unavailable` when it was not stored
   */
  enqueue(message: SignalMessage): Promise<void>;
}

/** One delivery of a message to a worker, until the message is removed or released. */
export interface Delivery {
  readonly receipt: string;
  readonly group: string;
  readonly body: string;
  /** 1 at the first delivery. */
  readonly receiveCount: number;
  readonly sentAtMs: number;
}

/**
 * The consuming end of the queue. On AWS, SQS delivers messages to the worker; in a local run the relay does.
 */
export interface SignalSource {
  /** Delivers the oldest messages of one group that no worker holds, in order; empty when there is none. */
  receive(maxMessages: number): Promise<readonly Delivery[]>;
  /** Deletes handled messages from the queue. */
  remove(receipts: readonly string[]): Promise<void>;
  /** Puts messages back in their places; after too many deliveries they become dead letters instead. */
  release(receipts: readonly string[]): Promise<void>;
  /** Resolves as soon as `receive` may have a message to deliver, or when the signal aborts. */
  waitForWork(signal?: AbortSignal): Promise<void>;
}

/**
 * Sets the pause after which a message that was delivered but not handled is delivered again.
 *
 * @throws RelayError `store_unavailable` when the pause could not be set; the queue's own, longer pause
 * applies then
 */
export type PostponeMessage = (receipt: string, pauseMs: number) => Promise<void>;

/** The group whose messages are handled strictly in order. */
export function groupOf(message: SignalMessage): string {
  return `${message.account}.${message.market}`;
}

/** One id per signal, by which the queue recognises duplicates. */
export function deduplicationIdOf(message: SignalMessage): string {
  return `${message.account}.${message.signalId}`;
}
