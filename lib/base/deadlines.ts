/** What must end by a certain time. */
export interface Dated {
  /** On the clock of `performance.now()`; it may move later, never earlier. */
  readonly dueMs: number;
  expire(): void;
}

/**
 * Ends what is overdue, with one timer for all. The timer rings at the earliest time that was ever asked for since it
 * rang last; a timer of its own for each request costs more than the request's other bookkeeping.
 */
export class Deadlines {
  readonly #pending = new Set<Dated>();
  #timer: NodeJS.Timeout | null = null;
  #ringsAtMs = Number.POSITIVE_INFINITY;

  add(dated: Dated): void {
    this.#pending.add(dated);
    if (dated.dueMs < this.#ringsAtMs) this.#ringAt(dated.dueMs);
  }

  delete(dated: Dated): void {
    this.#pending.delete(dated);
  }

  #ringAt(timeMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#ringsAtMs = timeMs;
    const delayMs = Math.max(1, Math.ceil(timeMs - performance.now()));
    // The connections keep the process alive; a timer that may ring for nothing must not.
    this.#timer = setTimeout(() => this.#ring(), delayMs).unref();
  }

  #ring(): void {
    this.#timer = null;
    this.#ringsAtMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const dated of [...this.#pending])
      if (dated.dueMs <= nowMs) dated.expire();
      else nextMs = Math.min(nextMs, dated.dueMs);
    if (nextMs < this.#ringsAtMs) this.#ringAt(nextMs);
  }
}
