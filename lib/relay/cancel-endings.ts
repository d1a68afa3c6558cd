import type { Alarm } from '../base/alarms.ts';
import { type Json, toJson } from '../base/json.ts';
import type { Order } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';
import type { Ending } from './action.ts';

/** What became of one target. */
export interface TargetEnding {
  readonly status: Status;
  /** Whether the exchange held no such open order any more. */
  readonly wasGone: boolean;
  readonly note: string;
  readonly evidence: Json;
  readonly alarm?: Alarm;
}

/** The answer is about another order than the one to cancel: what became of that one is to be looked up. */
export function contradictedCancel(order: Order, contradictions: readonly string[]): TargetEnding {
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
export function joinEndings(endings: readonly TargetEnding[], beside: Beside): Ending {
  const mayLeaveOpen = beside.leftOut > 0 || endings.some(leavesOpen);
  const alarms = [...endings.flatMap(({ alarm }) => alarm ?? []), ...(mayLeaveOpen ? [leftOpenAlarm] : [])];
  const [first] = alarms;
  if (first === undefined) return endOf(endings, beside);
  const message = alarms.map((alarm) => alarm.message).join('; ');
  return { ...endOf(endings, beside), alarm: { name: first.name, message } };
}

const leftOpenAlarm: Alarm = {
  name: 'orders_left_open',
  message: 'a cancellation was not carried out in full: orders may still be open',
};

/** An outcome that nobody knows has an alarm of its own. */
function leavesOpen({ status, wasGone }: TargetEnding): boolean {
  return status === 'not_sent' || (status === 'rejected' && !wasGone);
}

function endOf(endings: readonly TargetEnding[], { leftOut, withdrawn }: Beside): Ending {
  const [only] = endings;
  if (only !== undefined && endings.length === 1 && leftOut === 0 && withdrawn.length === 0) {
    const { status, note, evidence } = only;
    return { status, note, evidence };
  }
  const found = new Set(endings.map(({ status }) => status));
  if (leftOut > 0) found.add('not_sent');
  return {
    status: worstFirst.find((status) => found.has(status)) ?? 'cancelled',
    note: summarise(endings, { leftOut, withdrawn }),
    evidence: { orders: endings.map(evidenceOf), leftOut, withdrawn },
  };
}

function evidenceOf({ alarm, ...ending }: TargetEnding): Json {
  return { ...ending, ...(alarm === undefined ? {} : { alarm: alarm.message }) };
}

/** Several cancellations in one signal end as the one that needs most attention. */
const worstFirst: readonly Status[] = ['unknown', 'rejected', 'not_sent', 'cancelled'];

function summarise(endings: readonly TargetEnding[], { leftOut, withdrawn }: Beside): string {
  const groups = Map.groupBy(endings, ({ status, wasGone }) => (wasGone ? 'no longer open' : status));
  const counts = [...groups].map(([word, group]) => `${group.length} ${word}`).join(', ');
  return [
    ...(withdrawn.length === 0 ? [] : [`${withdrawn.length} signals were withdrawn before they were sent`]),
    endings.length === 0
      ? 'nothing was open in this market, as far as the ledger knows'
      : `of ${endings.length} orders: ${counts}`,
    ...(leftOut === 0 ? [] : [`${leftOut} older ones were not asked for: send the cancellation again`]),
  ].join('; ');
}
