/** A message that was delivered too often without being handled. */
export interface BuriedMessage {
  readonly group: string;
  readonly body: string;
}

/** What failed repeatedly waits here until the operator has removed the cause and redrives it. */
export interface DeadLetters {
  /**
   * Puts every dead letter back, oldest first, to be delivered again: on SQS at the end of its group, on one machine in
   * its place.
   *
   * At worst a crash leaves a message in both queues of SQS, and delivering a signal twice is harmless.
   *
   * @returns the messages that were put back, in that order
   * @throws RelayError `store_unavailable` when a message could not be put back; those before it are back
   */
  redrive(): Promise<readonly BuriedMessage[]>;
}
