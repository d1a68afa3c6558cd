import type { Log, LogFacts } from './log.ts';

/** @see DECISIONS 108 */
export type AlarmName =
  /** A request was sent, and its outcome is unknown. */
  | 'outcome_unknown'
  /** The stored outcome is not the one that a worker knows. */
  | 'outcome_contradicted'
  /** The exchange reported another order or another id, or lists several orders of one id. */
  | 'order_contradicted'
  /** The trigger of an order is not where its alert expects it. */
  | 'trigger_unexpected'
  /** A cancellation was not carried out, or only partly. */
  | 'orders_left_open'
  | 'signal_not_executed'
  | 'signals_waiting'
  /** Its message became a dead letter. */
  | 'signal_dead_lettered'
  /** An account is over its limit of signals, and its alerts are refused. */
  | 'signals_over_limit'
  /** An alert placed nothing, because its id or its bytes were used before. */
  | 'alert_repeated'
  | 'interest_missing'
  /** A position stands without the stop-loss that its entry asked for. */
  | 'position_unprotected'
  /** The loss of an account's day has reached its limit, and the account is paused. */
  | 'daily_loss'
  /** A position is in margin call, or is being liquidated. */
  | 'position_in_danger'
  /** The exchange reduced or closed a position, or nobody is known who did. */
  | 'position_reduced'
  /** A market in which something is open will be taken off the exchange. */
  | 'market_delisted'
  /** Positions were open, and they could not be read since. */
  | 'positions_unread'
  /** Placed orders are followed, and the account's lists could not be read since. */
  | 'orders_unread'
  /** The exchange's lists have a word that the relay does not know. */
  | 'unknown_word'
  /** A list has a record that cannot be read, so that what is missing in it is not known. */
  | 'record_unreadable'
  /** The fills that are listed for an order are more than the order. */
  | 'fills_contradicted';

export interface Alarm {
  readonly name: AlarmName;
  /** The text that the operator reads. */
  readonly message: string;
}

/** Receives what the operator must look into. */
export interface Alarms {
  raise(alarm: Alarm, facts: LogFacts): void;
}

/** Joins several alarms about one signal under the name of the first; undefined when there are none. */
export function joinAlarms(alarms: readonly (Alarm | undefined)[]): Alarm | undefined {
  const raised = alarms.filter((alarm) => alarm !== undefined);
  const [first] = raised;
  return first && { name: first.name, message: raised.map(({ message }) => message).join('; ') };
}

/** Writes alarms to the log, where `alarm: true` marks them for the metric filters of the stack and for terminals; `alarmName` says which one it is. */
export function createLogAlarms(log: Log): Alarms {
  return {
    raise({ name, message }, facts) {
      log.error(message, { ...facts, alarm: true, alarmName: name });
    },
  };
}
