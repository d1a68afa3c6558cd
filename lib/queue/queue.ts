/**
 * A pointer to a signal that the ledger stores.
 *
 * @see DECISIONS 14
 */
export interface SignalMessage {
  readonly account: string;
  readonly signalId: string;
  readonly market: string;
}

/**
 * The queue of stored signals that wait to be executed. A relay on one machine needs none: its ledger is read as the line.
 */
export interface SignalQueue {
  /**
   * Puts the message at the end of its group (account and market), unless a message with the same account and
   * signal id is still waiting. Once this resolves, the message survives a crash.
   *
   * @param attempt distinguishes the message from earlier ones of the same signal that were handled without executing it
   * @throws RelayError `store_unavailable` when it was not stored
   */
  enqueue(message: SignalMessage, attempt?: string): Promise<void>;
}

/**
 * Sets the pause after which a message that was delivered but not handled is delivered again.
 *
 * @throws RelayError `store_unavailable` when the pause could not be set; the queue's own, longer pause
 * applies then
 */
export type PostponeMessage = (receipt: string, pauseMs: number) => Promise<void>;

/** The attribute of a message whose signal met a cold start when it was received. */
export const coldStartAttribute = 'metColdStart';

/** The group whose messages are handled strictly in order. */
export function groupOf(message: Omit<SignalMessage, 'signalId'>): string {
  return `${message.account}.${message.market}`;
}

/** One id per signal, and per attempt to execute one that had to wait, by which the queue recognises duplicates. */
export function deduplicationIdOf(message: Omit<SignalMessage, 'market'>, attempt?: string): string {
  const id = `${message.account}.${message.signalId}`;
  return attempt === undefined ? id : `${id}.${attempt}`;
}
