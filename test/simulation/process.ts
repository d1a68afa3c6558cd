import { AsyncLocalStorage } from 'node:async_hooks';
import { type Alarms, createLogAlarms } from '../../lib/base/alarms.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { type LogLevel, RelayError } from '../../lib/base/errors.ts';
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
  /** Whether the list of open positions may lag behind, as the lists of orders do. */
  readonly doPositionsLag: boolean;
  /** How long a relay on one machine waits before it follows its orders again; absent: a minute. */
  readonly followPauseMs?: () => number;
}

/** The handlers that run; `resolve` is the operator's tool. */
export type HandlerName = 'receive' | 'execute' | 'reconcile' | 'resolve';

/** One invocation of a handler: one alert received, one message executed, one run of the reconciler. */
export interface Invocation {
  readonly handlerName: HandlerName;
  /** Names the invocation, for example by a signal id. */
  readonly name: string;
  readonly startedAtMs: number;
  /** The signal whose message it handles. */
  readonly key: EntryKey | null;
  /** The signal for which it sends at the moment: earlier signals of the same market are executed first. */
  sender?: EntryKey;
}

const invocations = new AsyncLocalStorage<Invocation>();

/** The invocation that is running; null outside of every handler. */
export function currentInvocation(): Invocation | null {
  return invocations.getStore() ?? null;
}

/** Runs a handler so that {@link currentInvocation} returns its invocation. */
export function runInvocation<T>(invocation: Invocation, run: () => T): T {
  return invocations.run(invocation, run);
}

const longestStepMs = 4;
/** Slow steps may take longer than a sender waits, or longer than a function may run. */
export const slowestStepMs = 12_000;

/**
 * A process with its own clock. When it dies, its pending promises never settle, and nothing that it
 * scheduled runs.
 */
export class Process {
  readonly name: string;
  readonly stage: Stage;
  readonly clock: Clock;
  readonly log: Log;
  readonly alarms: Alarms;
  /**
   * Whether its stores acknowledge a write later than they execute it. Then a step does not end at one moment of virtual
   * time.
   */
  readonly hasLateFlush: boolean;
  /** How far its clock is ahead of the true time. */
  skewMs: number;
  #isAlive = true;
  #awakeFromMs = 0;
  /** The events that were due while it was suspended; null while it runs. */
  #suspended: (() => unknown)[] | null = null;
  readonly #deathListeners: (() => void)[] = [];

  constructor(stage: Stage, name: string, skewMs: number, hasLateFlush = false) {
    this.stage = stage;
    this.name = name;
    this.skewMs = skewMs;
    this.hasLateFlush = hasLateFlush;
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
    for (const listener of this.#deathListeners) listener();
  }

  onDeath(listener: () => void): void {
    this.#deathListeners.push(listener);
  }

  /**
   * Stops it for this time. It then continues as if no time had passed, but its clock shows the true time.
   */
  freeze(durationMs: number): void {
    this.#awakeFromMs = this.stage.loop.nowMs + durationMs;
    this.stage.history.freezes.push({ fromMs: this.stage.loop.nowMs, untilMs: this.#awakeFromMs });
    this.note(`freezes for ${durationMs} ms`, 'hazard: frozen');
  }

  /** Stops it until it is resumed; events that are due meanwhile run then. */
  suspend(): void {
    this.#suspended = [];
  }

  resume(): void {
    const due = this.#suspended ?? [];
    this.#suspended = null;
    for (const run of due) this.later(0, run);
  }

  /** Notes an error that the relay has no name for: a mistake in the code, or of a library. */
  watch<T>(running: Promise<T>): Promise<T> {
    running.catch((error: unknown) => {
      if (!(error instanceof RelayError)) this.stage.history.failures.push(String(error));
    });
    return running;
  }

  /** Runs after the delay, if the process is still alive. */
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
    const actor =
      invocation === null ? this.name : `${this.name} ${invocation.handlerName} ${invocation.name}`;
    this.stage.history.note(this.stage.loop.nowMs, actor, what, fault);
  }

  /**
   * Runs one request to a store: it travels there, takes effect at one moment, and its response travels back.
   * Each part may fail.
   *
   *
   * @param step for example `ledger.start`
   * @param operate the real operation; unless the process has a late flush, it ends at one moment of virtual time
   */
  step<T>(step: string, detail: string, operate: () => Promise<T>): Promise<T> {
    const fault = this.stage.faults.atStore(step);
    const invocation = currentInvocation();
    const inContext = <R>(run: () => R): R =>
      invocation === null ? run() : invocations.run(invocation, run);
    return new Promise((resolve, reject) => {
      const carryOut = () => {
        this.note(`${step} ${detail}`, fault === null ? null : `store: ${fault}`);
        if (fault === 'crash_before') return this.die(`before ${step}`);
        if (fault === 'fail_before') return this.later(this.#travelMs(), () => reject(failureOf(step)));
        const ended = settle(operate, resolve, reject).then((deliver) => {
          if (fault === 'crash_after') return this.die(`after ${step}`);
          const response = fault === 'fail_after' ? () => reject(failureOf(step)) : deliver;
          return this.later(this.#travelMs(fault), response);
        });
        return this.hasLateFlush ? undefined : ended;
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

/** Runs the operation now, and returns a function that delivers its result later. */
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
