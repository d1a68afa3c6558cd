/**
 * A waiting signal; one object represents it until it leaves the line.
 *
 * @see DECISIONS 20
 */
export interface Waiting {
  /** Unique among all waiting signals. */
  readonly id: string;
  /** Its place among all of them: the smaller, the older. */
  readonly position: number;
  readonly group: string;
  /** Set aside: it keeps its place and is not delivered. */
  isAside: boolean;
}

interface Group<T extends Waiting> {
  /** Oldest first. The delivered one keeps its place until it is removed or put back. */
  readonly items: T[];
  delivered: T | null;
  isResting: boolean;
}

/** The order of deliveries, in memory: first in, first out within a group, and one delivery per group at a time. */
export class WaitingLine<T extends Waiting> {
  readonly #items = new Map<string, T>();
  readonly #groups = new Map<string, Group<T>>();
  /** The groups that have something to deliver, in the order in which they became free. */
  readonly #free = new Set<Group<T>>();
  readonly #waiters = new Set<() => void>();

  get items(): ReadonlyMap<string, T> {
    return this.#items;
  }

  /**
   * Inserts it by its position, instead of one with the same id. A delivery of that one goes on as its own, unless it is
   * of another group.
   */
  add(item: T): void {
    const known = this.#items.get(item.id);
    const replaced = known?.group === item.group ? known : undefined;
    if (known !== undefined && replaced === undefined) this.remove(known);
    const group = this.#groups.get(item.group) ?? { items: [], delivered: null, isResting: false };
    this.#groups.set(item.group, group);
    if (replaced !== undefined) group.items.splice(group.items.indexOf(replaced), 1);
    if (replaced !== undefined && group.delivered === replaced) group.delivered = item;
    this.#items.set(item.id, item);
    const older = group.items.findLastIndex(({ position }) => position < item.position);
    group.items.splice(older + 1, 0, item);
    this.#offer(group);
  }

  /** Delivers the oldest item of the group that has been free for longest; null when no group is free. */
  take(): T | null {
    for (const group of this.#free) {
      this.#free.delete(group);
      group.delivered = group.items.find(({ isAside }) => !isAside) ?? null;
      if (group.delivered !== null) return group.delivered;
    }
    return null;
  }

  /** Takes it out of the line, delivered or not. */
  remove(item: T): void {
    const group = this.#groups.get(item.group);
    if (group === undefined || !this.#items.delete(item.id)) return;
    group.items.splice(group.items.indexOf(item), 1);
    if (group.delivered === item) group.delivered = null;
    if (group.items.length === 0) this.#groups.delete(item.group);
    if (group.items.length === 0) this.#free.delete(group);
    else this.#offer(group);
  }

  /** Gives a delivered item back to its place; its group delivers nothing until the promise resolves. */
  putBack(item: T, rested: Promise<void>): void {
    const group = this.#groups.get(item.group);
    if (group === undefined || group.delivered !== item) return;
    group.delivered = null;
    group.isResting = true;
    void rested.then(() => {
      group.isResting = false;
      this.#offer(group);
    });
  }

  /** Whether the item is delivered at present. */
  isDelivered(item: T): boolean {
    return this.#groups.get(item.group)?.delivered === item;
  }

  /** The items of a group, oldest first, the delivered one among them. */
  list(group: string): readonly T[] {
    return this.#groups.get(group)?.items ?? [];
  }

  /** Whether an older item of the same group waits. */
  hasOlder(item: T): boolean {
    return this.#groups.get(item.group)?.items[0] !== item;
  }

  /** To be called after `isAside` of one of its items changed. */
  reconsider({ group }: T): void {
    const known = this.#groups.get(group);
    if (known !== undefined) this.#offer(known);
  }

  /** Resolves as soon as a group is free, or when the signal aborts. */
  waitForFree(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || this.#free.size > 0) return Promise.resolve();
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

  #offer(group: Group<T>): void {
    if (group.delivered !== null || group.isResting || group.items.every(({ isAside }) => isAside)) return;
    this.#free.add(group);
    for (const wake of [...this.#waiters]) wake();
  }
}
