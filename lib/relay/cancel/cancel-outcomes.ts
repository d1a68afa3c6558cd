import { type Alarm, joinAlarms } from '../../base/alarms.ts';
import type { Json } from '../../base/json.ts';
import type { ExchangeError } from '../../exchange/errors.ts';
import type { Status } from '../../model/outcome.ts';
import type { CancelledOrder, StepFacts } from '../../model/step-facts.ts';
import type { Outcome } from '../execute/action.ts';

/**
 * The outcome of the cancellation of one order, or of one group of orders.
 *
 * @see DECISIONS 29
 */
export interface TargetOutcome {
  readonly status: Status;
  /** How many orders it is about. Absent: one. */
  readonly orderCount?: number;
  /** Whether the exchange reported that no such order is open. */
  readonly wasGone: boolean;
  /** The ids of the orders that the exchange has confirmed as cancelled: one, or both legs of a pair. */
  readonly confirmedIds?: readonly number[];
  /** The orders that the exchange reported as ended. Absent: none. */
  readonly cancelled?: readonly CancelledOrder[];
  readonly note: string;
  readonly evidence: Json;
  readonly alarm?: Alarm;
}

/** What the outcome of a cancellation reports besides its targets. */
export interface CancelRemainder {
  /** How many more orders may be open but were left out, because there is no time to cancel them. */
  readonly leftOut: number;
  /** Ids of the order signals that it withdrew before they were sent. */
  readonly withdrawn: readonly string[];
}

/** Joins the outcomes of all targets into the outcome of the signal. */
export function joinOutcomes(outcomes: readonly TargetOutcome[], beside: CancelRemainder): Outcome {
  const mayLeaveOpen = beside.leftOut > 0 || outcomes.some(leavesOpen);
  const alarm = joinAlarms([
    ...outcomes.map((outcome) => outcome.alarm),
    mayLeaveOpen ? leftOpenAlarm : undefined,
  ]);
  const cancelled = outcomes.flatMap((outcome) => outcome.cancelled ?? []);
  const facts: StepFacts = {
    ...(cancelled.length === 0 ? {} : { cancelled }),
    ...(outcomes.some(({ wasGone }) => wasGone) ? { wasGone: true } : {}),
  };
  return { ...joinStatuses(outcomes, beside), facts, ...(alarm === undefined ? {} : { alarm }) };
}

export const leftOpenAlarm: Alarm = {
  name: 'orders_left_open',
  message: 'a cancellation was only partly carried out: orders may still be open',
};

/** `unknown` is left out: it has its own alarm. */
function leavesOpen({ status, wasGone }: TargetOutcome): boolean {
  return status === 'not_sent' || (status === 'rejected' && !wasGone);
}

function joinStatuses(outcomes: readonly TargetOutcome[], { leftOut, withdrawn }: CancelRemainder): Outcome {
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
    evidence: { orders: outcomes.map(describeTarget), leftOut, withdrawn },
  };
}

function describeTarget({
  alarm,
  confirmedIds: _ids,
  orderCount: _count,
  cancelled: _cancelled,
  ...outcome
}: TargetOutcome): Json {
  return { ...outcome, ...(alarm === undefined ? {} : { alarm: alarm.message }) };
}

/** A signal with several cancellations gets the status that needs the most attention. */
const worstFirst: readonly Status[] = ['unknown', 'rejected', 'not_sent', 'cancelled'];

function summarise(outcomes: readonly TargetOutcome[], { leftOut, withdrawn }: CancelRemainder): string {
  const groups = Map.groupBy(outcomes, ({ status, wasGone }) => (wasGone ? 'no longer open' : status));
  const counts = [...groups].map(([word, group]) => `${countOrders(group)} ${word}`).join(', ');
  return [
    ...(withdrawn.length === 0 ? [] : [`${withdrawn.length} signals were withdrawn before they were sent`]),
    outcomes.length === 0
      ? 'the ledger knows no open order in this market'
      : `of ${countOrders(outcomes)} orders: ${counts}`,
    ...(leftOut === 0 ? [] : [`${leftOut} older orders were left out: send the cancellation again`]),
  ].join('; ');
}

function countOrders(outcomes: readonly TargetOutcome[]): number {
  return outcomes.reduce((count, { orderCount = 1 }) => count + orderCount, 0);
}

/** The status of a cancellation that the exchange refused, or that never reached it. */
export function statusOfRefusal({ failure }: ExchangeError): Status {
  return failure.kind === 'rejected' ? 'rejected' : 'not_sent';
}
