import type { Log, LogFacts } from './log.ts';

export type AlarmName =
  /** A request was sent, and nobody knows what became of it. */
  | 'outcome_unknown'
  /** The outcome that was written down is not the one that came. */
  | 'outcome_contradicted'
  /** The exchange answered with another order, another id, or shows several orders of one id. */
  | 'order_contradicted'
  /** The order waits for another price than its alert expects. */
  | 'trigger_unexpected'
  /** A cancellation was not carried out, or not in full. */
  | 'orders_left_open'
  | 'signal_not_carried_out'
  | 'signals_waiting'
  /** It is among the dead letters. */
  | 'signal_set_aside'
  /** An account is over its limit of signals, and its alerts are refused. */
  | 'signals_over_limit'
  | 'interest_missing';

export interface Alarm {
  readonly name: AlarmName;
  /** What a person reads. */
  readonly message: string;
}

/** Where the relay says what a person must look into. */
export interface Alarms {
  raise(alarm: Alarm, facts: LogFacts): void;
}

/** Several alarms about one signal as one, under the name of the first; undefined when there is none. */
export function joinAlarms(alarms: readonly (Alarm | undefined)[]): Alarm | undefined {
  const raised = alarms.filter((alarm) => alarm !== undefined);
  const [first] = raised;
  return first && { name: first.name, message: raised.map(({ message }) => message).join('; ') };
}

/** Alarms as lines of the log: the metric filters of the stack, and terminals, know them by `alarm: true`. */
export function createLogAlarms(log: Log): Alarms {
  return {
    raise({ message }, facts) {
      log.error(message, { ...facts, alarm: true });
    },
  };
}
