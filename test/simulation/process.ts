import { AsyncLocalStorage } from 'node:async_hooks';
import { type Alarms, createLogAlarms } from '../../lib/base/alarms.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { LogLevel, RelayError } from '../../lib/base/errors.ts';
import type { Log } from '../../lib/base/log.ts';
import type { Random } from '../../lib/base/random.ts';
import { createStoreFailure } from '../../lib/base/store-failure.ts';
import type { EntryKey } from '../../lib/ledger/entry.ts';
import { rollWhole } from './dice.ts';
import type { EventLoop } from './event-loop.ts';
import type { FaultPlan, StoreFault } from './faults.ts';
import type { History } from './history.ts';

/** What all parts of one simulated world share. */
export interface Stage {
  readonly loop: EventLoop;
  readonly random: Random;
  readonly faults: FaultPlan;
  readonly history: History;
}

/** The stories that are told; the last one by the operator's tool. */
export type Story = 'receive' | 'execute' | 'reconcile' | 'resolve';

/** One telling of a story: one alert taken in, one message executed, one look at what is left. */
export interface Invocation {
  readonly story: Story;
  /** Which one of its story, for example a signal's id. */
  readonly name: string;
  readonly startedAtMs: number;
  /** The signal whose message it handles. */
  readonly key: EntryKey | null;
  /** The signal it last set out to send something for: earlier ones of the same market are carried out first. */
  sender?: EntryKey;
}

const invocations = new AsyncLocalStorage<Invocation>();

/** On whose behalf this is running; null outside of every story. */
export function currentInvocation(): Invocation | null {
  return invocations.getStore() ?? null;
}

/** Runs a story so that everything it asks for is known to be its own. */
export function runInvocation<T>(invocation: Invocation, story: () => T): T {
  return invocations.run(invocation, story);
}

const longestStepMs = 4;
/** Some steps take longer than a sender waits, some longer than a function may. */
export const slowestStepMs = 12_000;

/**
 * A process with a clock of its own. When it dies, nothing it waited for ever comes, and nothing it would have done
 * next happens.
 */
export class Process {
  readonly name: string;
  readonly stage: Stage;
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  /** How far its clock is ahead of the true time. */
  skewMs: number;
  #isAlive = true;
  #awakeFromMs = 0;
  /** What was due while it was suspended; null while it runs. */
  #suspended: (() => unknown)[] | null = null;
  readonly #mourners: (() => void)[] = [];

  constructor(stage: Stage, name: string, skewMs: number) {
    this.stage = stage;
    this.name = name;
    this.skewMs = skewMs;
    this.clock = {
      nowMs: () => stage.loop.nowMs + this.skewMs,
      sleep: (durationMs) => new Promise((resolve) => this.later(durationMs, resolve)),
    };
    this.log = this.#createLog();
    this.alarms = this.#createAlarms();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** @param fault what killed it, if it was injected */
  die(reason: string, fault: string | null = null): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.note(`dies: ${reason}`, fault);
    for (const mourn of this.#mourners) mourn();
  }

  onDeath(mourn: () => void): void {
    this.#mourners.push(mourn);
  }

  /** It does nothing for so long, and goes on as if no time had passed; only its clock tells. */
  freeze(durationMs: number): void {
    this.#awakeFromMs = this.stage.loop.nowMs + durationMs;
    this.note(`freezes for ${durationMs} ms`, 'hazard: frozen');
  }

  /** Nothing of it goes on until it is resumed: what is due meanwhile happens then. */
  suspend(): void {
    this.#suspended = [];
  }

  resume(): void {
    const due = this.#suspended ?? [];
    this.#suspended = null;
    for (const run of due) this.later(0, run);
  }

  /** Happens only if the process lives to see it. */
  later(delayMs: number, run: () => unknown): void {
    this.stage.loop.schedule(delayMs, () => {
      if (this.#suspended !== null) return this.#suspended.push(run);
      const leftMs = this.#awakeFromMs - this.stage.loop.nowMs;
      if (leftMs > 0) return this.later(leftMs, run);
      return this.#isAlive ? run() : undefined;
    });
  }

  note(what: string, fault: string | null = null): void {
    const invocation = currentInvocation();
    const actor = invocation === null ? this.name : `${this.name} ${invocation.story} ${invocation.name}`;
    this.stage.history.note(this.stage.loop.nowMs, actor, what, fault);
  }

  /**
   * Asks a store for something: the question travels, takes effect at one moment, and the response travels back. On
   * each leg something may go wrong.
   *
   * @param step for example `ledger.start`
   * @param operate the real operation; runs to its end at one moment of virtual time
   */
  step<T>(step: string, detail: string, operate: () => Promise<T>): Promise<T> {
    const fault = this.stage.faults.atStore(step);
    const invocation = currentInvocation();
    const inContext = <R>(run: () => R): R =>
      invocation === null ? run() : invocations.run(invocation, run);
    return new Promise((resolve, reject) => {
      const carryOut = async () => {
        this.note(`${step} ${detail}`, fault === null ? null : `store: ${fault}`);
        if (fault === 'crash_before') return this.die(`before ${step}`);
        if (fault === 'fail_before') return this.later(this.#travelMs(), () => reject(failureOf(step)));
        const deliver = await settle(operate, resolve, reject);
        if (fault === 'crash_after') return this.die(`after ${step}`);
        const response = fault === 'fail_after' ? () => reject(failureOf(step)) : deliver;
        this.later(this.#travelMs(fault), response);
      };
      this.later(this.#travelMs(), () => inContext(carryOut));
    });
  }

  #createLog(): Log {
    const { loop, history } = this.stage;
    const writer =
      (level: LogLevel): Log['info'] =>
      (message, facts) => {
        history.logs.push({ atMs: loop.nowMs, level, message, facts });
        this.note(`logs ${level}: ${message}`);
      };
    return { info: writer('info'), warn: writer('warn'), error: writer('error') };
  }

  #createAlarms(): Alarms {
    const { loop, history } = this.stage;
    const told = createLogAlarms(this.log);
    return {
      raise(alarm, facts) {
        history.alarms.push({ atMs: loop.nowMs, name: alarm.name, facts });
        told.raise(alarm, facts);
      },
    };
  }

  #travelMs(fault: StoreFault | null = null): number {
    const { random } = this.stage;
    return (
      rollWhole(random, 0, longestStepMs) + (fault === 'slow' ? rollWhole(random, 100, slowestStepMs) : 0)
    );
  }
}

/** Carries the operation out now; what it came to is told when the response has travelled back. */
async function settle<T>(
  operate: () => Promise<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Promise<() => void> {
  try {
    const value = await operate();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}

function failureOf(step: string): RelayError {
  const cause = new Error();
  cause.name = 'InjectedFailure';
  return createStoreFailure(`${step} got no response`, cause);
}
