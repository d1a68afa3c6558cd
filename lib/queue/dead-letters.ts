/** A message that was handed out too often. */
export interface BuriedMessage {
  readonly group: string;
  readonly body: string;
}

/** Where messages end that could not be handled, until a person has mended the cause. */
export interface DeadLetters {
  /**
   * Puts every dead letter back at the end of its group, oldest first, to be handed out anew.
   *
   * A crash half-way leaves a message in both places at worst, and handing a signal out twice does no harm.
   *
   * @returns what went back, in that order
   * @throws RelayError `store_unavailable` when the rest could not be put back
   */
  redrive(): Promise<readonly BuriedMessage[]>;
}
