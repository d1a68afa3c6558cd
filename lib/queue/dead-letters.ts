/** A message that was delivered too often without being handled. */
export interface BuriedMessage {
  readonly group: string;
  readonly body: string;
}

/**
 * The dead-letter queue: failed messages wait here until the operator has removed the cause and redrives
 * them.
 */
export interface DeadLetters {
  /**
   * Puts every dead letter back at the end of its group, oldest first, to be delivered again.
   *
   * At worst a crash leaves a message in both queues, and delivering a signal twice is harmless.
   *
   * @returns the messages that were put back, in that order
   * @throws RelayError `store_unavailable` when a message could not be put back; those before it are back
   */
  redrive(): Promise<readonly BuriedMessage[]>;
}
