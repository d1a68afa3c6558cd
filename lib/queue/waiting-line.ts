/** A message in its place; the same object for as long as it waits. */
export interface Waiting {
  /** Tells it from every other message. */
  readonly id: string;
  /** Where it stands among all messages: the smaller, the older. */
  readonly position: number;
  readonly group: string;
  readonly body: string;
  readonly sentAtMs: number;
  /** Hand-outs that ended without an acknowledgement. */
  failedCount: number;
}

interface Group {
  /** Oldest first; those handed out stay in front until they are settled. */
  readonly messages: Waiting[];
  handedOut: number;
  /** Returned messages rest before they are handed out again. */
  resting: number;
}

/** The order of hand-outs, in memory: first in, first out within a group, and one hand-out per group at a time. */
export class WaitingLine {
  readonly #groups = new Map<string, Group>();
  readonly #ids = new Set<string>();
  readonly #waiters = new Set<() => void>();

  /** Takes its place by position, but never before one that was handed out. */
  add(message: Waiting): void {
    this.#ids.add(message.id);
    const group = this.#groups.get(message.group);
    if (group === undefined)
      this.#groups.set(message.group, { messages: [message], handedOut: 0, resting: 0 });
    else {
      const { messages, handedOut } = group;
      const last = messages.findLastIndex(({ position }) => position < message.position);
      messages.splice(Math.max(last + 1, handedOut), 0, message);
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
    if (group !== null) group.handedOut = taken.length;
    return taken;
  }

  /** Takes a message that was handed out off the line. */
  remove(message: Waiting): void {
    const group = this.#groups.get(message.group);
    if (group === undefined) return;
    this.#ids.delete(message.id);
    group.messages.splice(group.messages.indexOf(message), 1);
    group.handedOut -= 1;
    if (group.messages.length === 0) this.#groups.delete(message.group);
    this.#wakeWaiters();
  }

  /** Puts a message that was handed out back in its place; its group rests until the promise resolves. */
  putBack(message: Waiting, rested: Promise<void>): void {
    const group = this.#groups.get(message.group);
    if (group === undefined) return;
    group.handedOut -= 1;
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

  /** Everybody who waits looks again: several groups may have become free for several workers. */
  #wakeWaiters(): void {
    if (this.#waiters.size === 0 || this.#longestWaiting() === null) return;
    for (const wake of [...this.#waiters]) wake();
  }

  #longestWaiting(): Group | null {
    let longest: Group | null = null;
    let oldest = Number.POSITIVE_INFINITY;
    for (const group of this.#groups.values()) {
      const position = group.messages[0]?.position ?? Number.POSITIVE_INFINITY;
      if (group.handedOut > 0 || group.resting > 0 || position >= oldest) continue;
      longest = group;
      oldest = position;
    }
    return longest;
  }
}
