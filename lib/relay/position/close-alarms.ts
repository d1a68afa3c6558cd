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

/** What an order that was to close a position has met: one that closes nothing is no close. */
function whatHappened({ status }: Pick<Outcome, 'status'>): string {
  if (status === 'placed') return 'a position was closed';
  return status === 'rejected'
    ? 'the exchange refused to close a position, as there was none'
    : 'there was no position to close';
}

export function leftAlarm(outcome: Pick<Outcome, 'status'>): Alarm {
  return {
    name: 'orders_left_open',
    message: `${whatHappened(outcome)}, and orders that protected it may still be open and could open a new one: cancel them`,
  };
}

/** Nobody knows which of them belong to what was closed, and a position without a stop-loss is worse than one with two. */
export function heldAlarm(outcome: Pick<Outcome, 'status'>, amount: Decimal): Alarm {
  const met =
    outcome.status === 'placed'
      ? 'a position was closed, and another order has filled meanwhile: the position'
      : `${whatHappened(outcome)}, but the position`;
  return {
    name: 'orders_left_open',
    message: `${met} is ${describeAmount(amount)} now; all stop-losses and take-profits are left open: check that they fit it`,
  };
}

export function turnedAlarm(outcome: Pick<Outcome, 'status'>, amount: Decimal): Alarm {
  return {
    name: 'orders_left_open',
    message: `${whatHappened(outcome)}, and another order, perhaps its stop-loss, has opened one of the other side meanwhile: ${describeAmount(amount)}; check whether you want it`,
  };
}

export function perhapsTurnedAlarm(outcome: Pick<Outcome, 'status'>): Alarm {
  return {
    name: 'orders_left_open',
    message: `${whatHappened(outcome)}, and an order that protected it has filled since, which no list of positions shows yet: check whether a position of the other side is open`,
  };
}

export const perhapsAlarm: Alarm = {
  name: 'orders_left_open',
  message:
    'it is not known whether a position was closed, and its stop-losses and take-profits are left open: check the position, and cancel them if it is closed',
};

/**
 * @param rest what the order did not close, in base units; null when that is not known
 * @param left the position now; null when that is not known
 * @param isTriedAgain whether the relay tries the rest again
 */
export function incompleteAlarm(rest: Decimal | null, left: Decimal | null, isTriedAgain = false): Alarm {
  const closed = rest === null ? 'only in part' : `but for ${formatDecimal(rest)}`;
  const now =
    left === null ? 'the position could not be read' : `the position is ${describeAmount(left)} now`;
  const advice = isTriedAgain
    ? 'the relay tries again, three times at most; close what is left then'
    : 'close the rest';
  return {
    name: 'close_incomplete',
    message: `an order was to close all of a position, and did so ${closed}: ${now}, and its stop-losses and take-profits are left open; ${advice}`,
  };
}
