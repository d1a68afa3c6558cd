import type { Alarm } from '../base/alarms.ts';
import { type Json, toJson } from '../base/json.ts';
import type { Order } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';
import type { Outcome } from './action.ts';

/** What became of one target. */
export interface TargetOutcome {
  readonly status: Status;
  /** Whether the exchange held no such open order any more. */
  readonly wasGone: boolean;
  readonly note: string;
  readonly evidence: Json;
  readonly alarm?: Alarm;
}

/** The response is about another order than the one to cancel: what became of that one is to be looked up. */
export function contradictedCancel(order: Order, contradictions: readonly string[]): TargetOutcome {
  const alarm = otherOrderAlarm(contradictions);
  const { message } = alarm;
  return {
    status: 'unknown',
    wasGone: false,
    note: message,
    evidence: toJson({ answered: order, contradictions, alarm: message }),
    alarm,
  };
}

export function otherOrderAlarm(contradictions: readonly string[]): Alarm {
  const message = `the exchange answered a cancellation with another order (${contradictions.join(', ')}): look at the account at once`;
  return { name: 'order_contradicted', message };
}

/** What a cancellation comes to beside its targets. */
export interface Beside {
  /** How many more orders may be open that there is no time for. */
  readonly leftOut: number;
  /** Signals that it ended before they were sent. */
  readonly withdrawn: readonly string[];
}

/** How a cancellation ended that had several orders to cancel, or one. */
export function joinOutcomes(outcomes: readonly TargetOutcome[], beside: Beside): Outcome {
  const mayLeaveOpen = beside.leftOut > 0 || outcomes.some(leavesOpen);
  const alarms = [...outcomes.flatMap(({ alarm }) => alarm ?? []), ...(mayLeaveOpen ? [leftOpenAlarm] : [])];
  const [first] = alarms;
  if (first === undefined) return endOf(outcomes, beside);
  const message = alarms.map((alarm) => alarm.message).join('; ');
  return { ...endOf(outcomes, beside), alarm: { name: first.name, message } };
}

const leftOpenAlarm: Alarm = {
  name: 'orders_left_open',
  message: 'a cancellation was not carried out in full: orders may still be open',
};

/** An outcome that nobody knows has an alarm of its own. */
function leavesOpen({ status, wasGone }: TargetOutcome): boolean {
  return status === 'not_sent' || (status === 'rejected' && !wasGone);
}

function endOf(outcomes: readonly TargetOutcome[], { leftOut, withdrawn }: Beside): Outcome {
  const [only] = outcomes;
  if (only !== undefined && outcomes.length === 1 && leftOut === 0 && withdrawn.length === 0) {
    const { status, note, evidence } = only;
    return { status, note, evidence };
  }
  const found = new Set(outcomes.map(({ status }) => status));
  if (leftOut > 0) found.add('not_sent');
  return {
    status: worstFirst.find((status) => found.has(status)) ?? 'cancelled',
    note: summarise(outcomes, { leftOut, withdrawn }),
    evidence: { orders: outcomes.map(evidenceOf), leftOut, withdrawn },
  };
}

function evidenceOf({ alarm, ...outcome }: TargetOutcome): Json {
  return { ...outcome, ...(alarm === undefined ? {} : { alarm: alarm.message }) };
}

/** Several cancellations in one signal end as the one that needs most attention. */
const worstFirst: readonly Status[] = ['unknown', 'rejected', 'not_sent', 'cancelled'];

function summarise(outcomes: readonly TargetOutcome[], { leftOut, withdrawn }: Beside): string {
  const groups = Map.groupBy(outcomes, ({ status, wasGone }) => (wasGone ? 'no longer open' : status));
  const counts = [...groups].map(([word, group]) => `${group.length} ${word}`).join(', ');
  return [
    ...(withdrawn.length === 0 ? [] : [`${withdrawn.length} signals were withdrawn before they were sent`]),
    outcomes.length === 0
      ? 'nothing was open in this market, as far as the ledger knows'
      : `of ${outcomes.length} orders: ${counts}`,
    ...(leftOut === 0 ? [] : [`${leftOut} older ones were not asked for: send the cancellation again`]),
  ].join('; ');
}
