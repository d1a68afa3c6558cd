import { rollWhole } from './dice.ts';
import type { EventLoop } from './event-loop.ts';
import type { Process } from './process.ts';

/** One function's sandbox: a process and the handler that was put together in it. */
export interface Container<Handler> {
  readonly process: Process;
  readonly handler: Handler;
}

/** A killed sandbox never tells what became of its story. */
export type Ended<T> = { readonly kind: 'returned'; readonly value: T } | { readonly kind: 'died' };

const longestBeforeKillMs = 3000;

/** The sandboxes of one function: used again while they live, each for one event at a time, and frozen between two. */
export class FunctionPool<Handler> {
  readonly #create: () => Container<Handler>;
  readonly #timeoutMs: number;
  readonly #running = new Set<Process>();
  #idle: Container<Handler>[] = [];

  /** @param timeoutMs after which the service kills a sandbox */
  constructor(timeoutMs: number, create: () => Container<Handler>) {
    this.#timeoutMs = timeoutMs;
    this.#create = create;
  }

  /** Every sandbox there is. */
  get processes(): readonly Process[] {
    return [...this.#running, ...this.#idle.map(({ process }) => process)];
  }

  /** The sandboxes that are at work. */
  get atWork(): readonly Process[] {
    return [...this.#running];
  }

  /** Takes back every sandbox that has nothing to do. */
  forget(): void {
    for (const { process } of this.#idle) process.die('taken back');
    this.#idle = [];
  }

  async run<T>(story: (container: Container<Handler>) => Promise<T>): Promise<Ended<T>> {
    // A sandbox may have died of what it began in its last story and did not wait for.
    this.#idle = this.#idle.filter(({ process }) => process.isAlive);
    const container = this.#idle.pop() ?? this.#create();
    const { process } = container;
    process.resume();
    this.#running.add(process);
    const stopTimer = this.#limitTime(process, process.stage.loop);
    const ended = await endOf(process, () => story(container));
    stopTimer();
    this.#running.delete(process);
    if (process.isAlive) {
      process.suspend();
      this.#idle.push(container);
    }
    return ended;
  }

  #limitTime(process: Process, loop: EventLoop): () => void {
    const { faults, random } = process.stage;
    const isCutShort = faults.strikes('out_of_time');
    const timeoutMs = isCutShort ? rollWhole(random, 0, longestBeforeKillMs) : this.#timeoutMs;
    return loop.schedule(timeoutMs, () =>
      process.die('out of time', isCutShort ? 'hazard: out_of_time' : null),
    );
  }
}

function endOf<T>(process: Process, story: () => Promise<T>): Promise<Ended<T>> {
  return new Promise((resolve, reject) => {
    process.onDeath(() => resolve({ kind: 'died' }));
    story().then((value) => resolve({ kind: 'returned', value }), reject);
  });
}
