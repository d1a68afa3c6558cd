import { describeAmount } from '../../account/seen-position.ts';
import { type Alarm, joinAlarms } from '../../base/alarms.ts';
import { type Decimal, formatDecimal } from '../../base/decimal.ts';
import type { Outcome } from '../execute/action.ts';

/** Adds an alarm to an outcome, and says it in its note. */
export function withAlarm(outcome: Outcome, added: Alarm): Outcome {
  const alarm = joinAlarms([outcome.alarm, added]);
  const note = `${outcome.note}; ${added.message}`;
  return { ...outcome, note, ...(alarm === undefined ? {} : { alarm }) };
}

export const leftAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'a position was closed, and orders that protected it may still be open and could open a new one: cancel them',
};

/** Nobody knows which of them belong to what was closed, and a position without a stop-loss is worse than one with two. */
export function heldAlarm(amount: Decimal): Alarm {
  return {
    name: 'orders_left_open',
    message: `a position was closed, and another order has filled meanwhile: the position is ${describeAmount(amount)} now; all stop-losses and take-profits are left open: check that they fit it`,
  };
}

export function turnedAlarm(amount: Decimal): Alarm {
  return {
    name: 'orders_left_open',
    message: `a position was closed, and another order, perhaps its stop-loss, has opened one of the other side meanwhile: ${describeAmount(amount)}; check whether you want it`,
  };
}

export const perhapsTurnedAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'a position was closed, and an order that protected it has filled since, which no list of positions shows yet: check whether a position of the other side is open',
};

export const perhapsAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'it is not known whether a position was closed, and its stop-losses and take-profits are left open: check the position, and cancel them if it is closed',
};

/**
 * @param rest what the order did not close, in base units; null when that is not known
 * @param left the position now; null when that is not known
 */
export function incompleteAlarm(rest: Decimal | null, left: Decimal | null): Alarm {
  const closed = rest === null ? 'only in part' : `but for ${formatDecimal(rest)}`;
  const now =
    left === null ? 'the position could not be read' : `the position is ${describeAmount(left)} now`;
  return {
    name: 'close_incomplete',
    message: `an order was to close all of a position, and did so ${closed}: ${now}, and its stop-losses and take-profits are left open; close the rest`,
  };
}
