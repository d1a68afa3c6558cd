/** A waiting message; one object represents it until it is removed. */
export interface Waiting {
  /** Unique among all messages. */
  readonly id: string;
  /** Its place among all messages: the smaller, the older. */
  readonly position: number;
  readonly group: string;
  readonly body: string;
  readonly sentAtMs: number;
  /** Deliveries that ended without an acknowledgement. */
  failedCount: number;
}

interface Group {
  /** Oldest first; delivered messages stay in front until they are removed or put back. */
  readonly messages: Waiting[];
  delivered: number;
  /** The number of released messages whose pause has not ended; until then the group delivers nothing. */
  resting: number;
}

/** The order of deliveries, in memory: FIFO within a group, and one delivery per group at a time. */
export class WaitingLine {
  readonly #groups = new Map<string, Group>();
  readonly #ids = new Set<string>();
  readonly #waiters = new Set<() => void>();

  /** Inserts the message by its position, but never before a delivered one. */
  add(message: Waiting): void {
    this.#ids.add(message.id);
    const group = this.#groups.get(message.group);
    if (group === undefined)
      this.#groups.set(message.group, { messages: [message], delivered: 0, resting: 0 });
    else {
      const { messages, delivered } = group;
      const last = messages.findLastIndex(({ position }) => position < message.position);
      messages.splice(Math.max(last + 1, delivered), 0, message);
    }
    this.#wakeWaiters();
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** The oldest messages of the free group that has waited longest; empty when no group is free. */
  take(maxMessages: number): readonly Waiting[] {
    const group = this.#longestWaiting();
    const taken = group?.messages.slice(0, maxMessages) ?? [];
    if (group !== null) group.delivered = taken.length;
    return taken;
  }

  /** Removes a delivered message. */
  remove(message: Waiting): void {
    const group = this.#groups.get(message.group);
    if (group === undefined) return;
    this.#ids.delete(message.id);
    group.messages.splice(group.messages.indexOf(message), 1);
    group.delivered -= 1;
    if (group.messages.length === 0) this.#groups.delete(message.group);
    this.#wakeWaiters();
  }

  /** Puts a delivered message back in its place; its group delivers nothing until the promise resolves. */
  putBack(message: Waiting, rested: Promise<void>): void {
    const group = this.#groups.get(message.group);
    if (group === undefined) return;
    group.delivered -= 1;
    group.resting += 1;
    void rested.then(() => {
      group.resting -= 1;
      this.#wakeWaiters();
    });
  }

  /** Resolves as soon as a group is free, or when the signal aborts. */
  waitForFree(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || this.#longestWaiting() !== null) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiters.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiters.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  /** Wakes all waiters, because several groups may have become free. */
  #wakeWaiters(): void {
    if (this.#waiters.size === 0 || this.#longestWaiting() === null) return;
    for (const wake of [...this.#waiters]) wake();
  }

  #longestWaiting(): Group | null {
    let longest: Group | null = null;
    let oldest = Number.POSITIVE_INFINITY;
    for (const group of this.#groups.values()) {
      const position = group.messages[0]?.position ?? Number.POSITIVE_INFINITY;
      if (group.delivered > 0 || group.resting > 0 || position >= oldest) continue;
      longest = group;
      oldest = position;
    }
    return longest;
  }
}
