import type { Random } from '../../../lib/base/random.ts';
import type { Item } from './item.ts';

/** How far what is eventually consistent lags behind: not by time, of which no test should depend, but by requests. */
export interface Lag {
  /** How many requests were handled so far. */
  requests: number;
  /** Null: nothing lags. */
  random: Random | null;
}

/** A write shows after so many more requests at the latest. */
const longestLag = 8;

/** A copy of a table that takes over its writes later, those of one item in their order. */
export class LaggingCopy {
  readonly #lag: Lag;
  readonly #items = new Map<string, Item>();
  readonly #waiting = new Map<string, { readonly item: Item | null; readonly dueAt: number }[]>();

  constructor(lag: Lag) {
    this.#lag = lag;
  }

  /** Null deletes. */
  write(name: string, item: Item | null): void {
    const { random, requests } = this.#lag;
    const dueAt = requests + (random === null ? 0 : Math.floor(random() * longestLag));
    const writes = this.#waiting.get(name) ?? [];
    this.#waiting.set(name, [...writes, { item, dueAt: Math.max(dueAt, writes.at(-1)?.dueAt ?? 0) }]);
  }

  read(name: string): Item | undefined {
    this.#catchUp();
    return this.#items.get(name);
  }

  listItems(): readonly Item[] {
    this.#catchUp();
    return [...this.#items.values()];
  }

  #catchUp(): void {
    const { random, requests } = this.#lag;
    for (const [name, writes] of this.#waiting) {
      const due = random === null ? writes.length : writes.filter(({ dueAt }) => dueAt <= requests).length;
      const last = writes[due - 1];
      if (last === undefined) continue;
      if (last.item === null) this.#items.delete(name);
      else this.#items.set(name, last.item);
      if (due === writes.length) this.#waiting.delete(name);
      else this.#waiting.set(name, writes.slice(due));
    }
  }
}
