import { rollWhole } from './dice.ts';
import type { EventLoop } from './event-loop.ts';
import type { Process } from './process.ts';

/** One sandbox of a Lambda function: a process and the handler that it runs. */
export interface Container<Handler> {
  readonly process: Process;
  readonly handler: Handler;
}

/** The end of an invocation; a killed sandbox returns nothing. */
export type Ended<T> = { readonly kind: 'returned'; readonly value: T } | { readonly kind: 'died' };

const longestBeforeKillMs = 3000;

/**
 * The sandboxes of one function. They are reused while they live, handle one event at a time, and are frozen
 * in between.
 */
export class FunctionPool<Handler> {
  readonly #create: () => Container<Handler>;
  readonly #timeoutMs: number;
  readonly #running = new Set<Process>();
  #idle: Container<Handler>[] = [];

  /** @param timeoutMs the time after which AWS kills a sandbox */
  constructor(timeoutMs: number, create: () => Container<Handler>) {
    this.#timeoutMs = timeoutMs;
    this.#create = create;
  }

  /** All sandboxes. */
  get processes(): readonly Process[] {
    return [...this.#running, ...this.#idle.map(({ process }) => process)];
  }

  /** The sandboxes that are handling an event. */
  get atWork(): readonly Process[] {
    return [...this.#running];
  }

  /** Ends every idle sandbox. */
  forget(): void {
    for (const { process } of this.#idle) process.die('idle sandbox ended');
    this.#idle = [];
  }

  async run<T>(handle: (container: Container<Handler>) => Promise<T>): Promise<Ended<T>> {
    // A sandbox may have died of a background task of its previous invocation.
    this.#idle = this.#idle.filter(({ process }) => process.isAlive);
    const container = this.#idle.pop() ?? this.#create();
    const { process } = container;
    process.resume();
    this.#running.add(process);
    const stopTimer = this.#limitTime(process, process.stage.loop);
    const ended = await waitForEnd(process, () => handle(container));
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

function waitForEnd<T>(process: Process, handle: () => Promise<T>): Promise<Ended<T>> {
  return new Promise((resolve, reject) => {
    process.onDeath(() => resolve({ kind: 'died' }));
    handle().then((value) => resolve({ kind: 'returned', value }), reject);
  });
}
