import type { LogFacts } from '../base/log.ts';
import type { Execution } from '../model/execution.ts';
import type { Entry, Step } from './entry.ts';
import type { Pause } from './ledger.ts';

/**
 * What has changed in a ledger, and what was recorded beside it for people: the outcome of a signal, what became of its
 * orders, a pause, an alarm, the figures of a day.
 */
export type LedgerChange = OutcomeChange | ExecutionChange | PauseChange | AlarmChange | DayChange;

export interface ChangeBase {
  /** The same whenever the change is read again, and of no other change. */
  readonly id: string;
  /** Null: it concerns no single account. */
  readonly account: string | null;
  /** Null when nobody noted it. */
  readonly atMs: number | null;
}

/** A signal has got an outcome, or another one. */
export interface OutcomeChange extends ChangeBase {
  readonly kind: 'outcome';
  readonly entry: Entry;
  readonly step: Step;
}

/** More is known of the orders of a signal. */
export interface ExecutionChange extends ChangeBase {
  readonly kind: 'execution';
  /** With the execution as the change left it. */
  readonly entry: Entry;
  /** Null: nothing was known of them. */
  readonly before: Execution | null;
}

export interface PauseChange extends ChangeBase {
  readonly kind: 'pause';
  /** Null: the pause has ended. */
  readonly pause: Pause | null;
}

export interface AlarmChange extends ChangeBase {
  readonly kind: 'alarm';
  /** A name of `alarmMeanings`, or of another release. */
  readonly name: string;
  readonly message: string;
  readonly facts: LogFacts;
}

/** What one account did in a day, in sentences. */
export interface DayChange extends ChangeBase {
  readonly kind: 'day';
  readonly lines: readonly string[];
}

/** An alarm as a store keeps it. */
export interface RecordedAlarm {
  readonly name: string;
  readonly message: string;
  readonly facts: LogFacts;
}

/** The account that an alarm names among its facts; null when it names none. */
export function accountIn({ account }: LogFacts): string | null {
  return typeof account === 'string' ? account : null;
}

/**
 * The change to a status. That is reached once at most, so it names its step, which is missing in a damaged entry alone.
 */
export function outcomeOf(base: ChangeBase, entry: Entry, status: string | null): OutcomeChange {
  const found = entry.steps.findLast((step) => step.status === status);
  const step = found ?? { status: entry.status, atMs: entry.updatedAtMs, note: 'its record is damaged' };
  return { ...base, kind: 'outcome', entry, step };
}
