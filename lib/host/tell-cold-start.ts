import { type Clock, hasPassed } from '../base/clock.ts';
import { describeSafely } from '../base/describe-error.ts';
import { fieldsOf, numberIn } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import type { AccountFacts } from '../ledger/account-facts.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { createTeller, type TellServices } from '../ledger/tell-once.ts';
import type { SignalMessage } from '../queue/queue.ts';

export interface ColdStartServices extends TellServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly facts: AccountFacts;
  readonly ledger: Pick<Ledger, 'read' | 'list'>;
  /** Not empty. */
  readonly accounts: readonly string[];
  /** What the stack calls this version of the functions; null: they are not kept warm. */
  readonly release: string | null;
}

/** Which function a signal met cold. */
export interface ColdStart {
  readonly receive: boolean;
  readonly execute: boolean;
}

/** Says when a signal met a cold start although the functions are kept warm. */
export interface ColdStartTeller {
  /** Notes, once in a process, that its release is being kept warm. */
  noteWarm(): Promise<void>;
  /**
   * Raises `cold_start`, at most once an hour. It says nothing soon after a deployment, which replaces every process, and
   * nothing of signals that came together: only one process of each function is kept warm.
   *
   * Never rejects: the signal is done.
   */
  tell(message: SignalMessage, met: ColdStart): Promise<void>;
}

/** A schedule that was just made may take some minutes until its first call. */
const settlingMs = 10 * 60_000;
const toldEveryMs = 60 * 60_000;
/** Signals that are nearer to each other may be handled side by side. */
const apartMs = 60_000;
/** Among the newest of each account, more need not be looked at to find one that came at the same time. */
const newest = 5;
const factName = 'kept warm';

export function createColdStartTeller(services: ColdStartServices): ColdStartTeller {
  const { clock, log, facts, ledger, accounts, release } = services;
  const teller = createTeller(services);
  /** Under whose name the facts of the stack are kept. */
  const [home = ''] = accounts;
  let isNoted = false;

  async function readWarmSinceMs(): Promise<number | null> {
    const fact = fieldsOf(await facts.read(home, factName));
    return fact['release'] === release ? numberIn(fact['sinceMs']) : null;
  }

  async function isSettled(): Promise<boolean> {
    const sinceMs = await readWarmSinceMs();
    return sinceMs !== null && hasPassed(sinceMs, settlingMs, clock.nowMs());
  }

  async function cameAlone(entry: Entry, met: ColdStart): Promise<boolean> {
    const pages = await Promise.all(accounts.map((account) => ledger.list({ account, limit: newest })));
    const near = pages
      .flatMap(({ entries }) => entries)
      .filter(({ createdAtMs }) => Math.abs(createdAtMs - entry.createdAtMs) < apartMs);
    // The signals of one alert are received together, and executed side by side.
    return met.receive
      ? near.every(({ fingerprint }) => fingerprint === entry.fingerprint)
      : near.every(({ account, signalId }) => account === entry.account && signalId === entry.signalId);
  }

  async function judge(message: SignalMessage, met: ColdStart): Promise<void> {
    if (!(await isSettled())) return;
    const entry = await ledger.read(message);
    if (entry === null || !(await cameAlone(entry, met))) return;
    const { account, signalId } = message;
    await teller.tell(home, {
      key: 'cold start',
      alarm: { name: 'cold_start', message: describe(met) },
      facts: { account, signalId },
      everyMs: toldEveryMs,
    });
  }

  return {
    async noteWarm() {
      if (release === null || isNoted) return;
      const sinceMs = await readWarmSinceMs();
      if (sinceMs === null) await facts.write(home, factName, { release, sinceMs: clock.nowMs() });
      isNoted = true;
    },
    async tell(message, met) {
      if (release === null || (!met.receive && !met.execute)) return;
      try {
        await judge(message, met);
      } catch (error) {
        log.warn('a cold start could not be told', { reason: describeSafely(error) });
      }
    },
  };
}

function describe({ receive, execute }: ColdStart): string {
  const names = [...(receive ? ['receive-signal'] : []), ...(execute ? ['execute-signal'] : [])];
  return `the signal met a cold start of ${names.join(' and of ')}, although it is kept warm, and took some tenths of a second longer; nothing is lost. Lambda ends a process now and then: if this comes day after day, look in EventBridge Scheduler whether the two KeepWarm schedules of the stack are enabled`;
}
