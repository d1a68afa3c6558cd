import type { Log, LogFacts } from './log.ts';

/**
 * Every alarm by its name, and what happened. A log line and a dimension of the metric carry the name.
 *
 * @see DECISIONS 108
 */
export const alarmMeanings = {
  outcome_unknown: 'a request was sent, and its outcome is unknown, or could not be stored',
  outcome_contradicted: 'the stored outcome is not the one that a worker knows',
  order_contradicted: 'the exchange reported another order or another id, or lists several orders of one id',
  trigger_unexpected: 'the trigger of an order is not where its alert expects it',
  orders_left_open:
    'a cancellation was not carried out, or only in part, a position was closed beside an order of unknown outcome, or is gone and may have left a stop-loss or take-profit that no list of orders shows',
  close_incomplete:
    'an order that was to close or reduce a position, or to sell on spot, filled only in part, was too small, or was not sent, also because a list was late',
  signal_not_executed:
    'a signal was given up before it was sent, or what it was to close, reduce or sell on spot may stand',
  signals_waiting: 'signals wait behind one that cannot be executed',
  signal_dead_lettered: 'the message of a signal became a dead letter',
  signals_over_limit: 'an account is over its limit of signals, and its alerts are refused',
  alerts_not_taken: 'no alert can be taken: the store or the secrets cannot be used',
  alert_repeated: 'an alert placed nothing, because its id or its bytes were used before',
  interest_missing: 'payments of interest are no longer listed',
  position_unprotected: 'a position stands without the stop-loss that its entry, or a `protect`, asked for',
  protection_failed: 'a stop-loss or take-profit does not fit its position, and was not replaced',
  sale_cancelled: 'a resting sale was cancelled, because what it was to sell is sold already',
  daily_loss: 'the loss of the day has reached its limit, and the account is paused',
  position_in_danger: 'a position is in margin call, or is being liquidated',
  position_reduced: 'the exchange reduced or closed a position, or nobody is known who did',
  position_turned:
    'a stop-loss or take-profit, or a stop of yours within seconds of it, sold or bought more than was held, and opened the opposite position',
  market_delisted: 'a market in which something is open will be taken off the exchange',
  exchange_maintenance: 'the exchange is in planned maintenance',
  clock_off: "the machine's clock differs so much from the exchange's that orders will be refused",
  key_refused: 'the exchange refuses the key of a live account',
  positions_unread: 'positions were open, and could not be read since',
  orders_unread: 'placed orders are followed, and the lists could not be read since',
  second_relay:
    'the exchange has orders of a relay that this ledger does not know, and all accounts are paused',
  unknown_word: "the exchange's lists have a word that the relay does not know",
  record_unreadable: 'a list has a record that cannot be read, so what is missing in it is not known',
  fills_contradicted: 'the fills that are listed for an order are more than the order',
  cold_start: 'an alert met a function that was not kept warm, and took some tenths of a second longer',
} as const;

export type AlarmName = keyof typeof alarmMeanings;

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
