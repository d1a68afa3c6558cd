/** An event that is scheduled in the simulated world. */
interface Happening {
  readonly atMs: number;
  /** Breaks ties: of events at the same time, the one that was scheduled first runs first. */
  readonly order: number;
  run(): unknown;
  isCancelled: boolean;
}

/** Cancels a scheduled event, if it has not run yet. */
export type CancelHappening = () => void;

/**
 * Virtual time. Events run one by one, in the order of their times. Each event, with everything it wakes, is
 * awaited before the next one runs.
 */
export class EventLoop {
  readonly #heap: Happening[] = [];
  #nowMs: number;
  #scheduled = 0;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** @param delayMs from now on; fractions are rounded up, as a timer is never early */
  schedule(delayMs: number, run: () => unknown): CancelHappening {
    const atMs = this.#nowMs + Math.max(0, Math.ceil(delayMs));
    const happening: Happening = { atMs, order: this.#scheduled, run, isCancelled: false };
    this.#scheduled += 1;
    this.#push(happening);
    return () => {
      happening.isCancelled = true;
    };
  }

  /** Runs all events that are due by then, and sets the time to it. */
  async runUntil(timeMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= timeMs; next = this.#heap[0]) {
      this.#pop();
      if (next.isCancelled) continue;
      this.#nowMs = next.atMs;
      await next.run();
      await drainMicrotasks();
    }
    this.#nowMs = timeMs;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let place = heap.push(happening) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, happening)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = happening;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const child = earlierChild(heap, place);
      const below = heap[child];
      if (below === undefined || isBefore(last, below)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

function earlierChild(heap: readonly Happening[], place: number): number {
  const left = heap[2 * place + 1];
  const right = heap[2 * place + 2];
  return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * place + 2 : 2 * place + 1;
}

/** By the next turn of the real event loop, all microtasks have run. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
