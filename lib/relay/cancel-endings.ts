import { type Json, toJson } from '../base/json.ts';
import type { Order } from '../model/order.ts';
import type { Status } from '../model/outcome.ts';

/** What became of one order that was to be cancelled. */
export interface TargetEnding {
  readonly status: Status;
  /** Whether the exchange held no such open order any more. */
  readonly wasGone: boolean;
  readonly note: string;
  readonly evidence: Json;
  readonly alarm?: string;
}

/** The answer is about another order than the one to cancel: what became of that one is to be looked up. */
export function contradictedCancel(order: Order, contradictions: readonly string[]): TargetEnding {
  const alarm = describeOtherOrder(contradictions);
  return {
    status: 'unknown',
    wasGone: false,
    note: alarm,
    evidence: toJson({ answered: order, contradictions, alarm }),
    alarm,
  };
}

/** The alarms of several cancellations as that of their signal. */
export function joinAlarms(endings: readonly TargetEnding[]): { readonly alarm?: string } {
  const alarms = endings.flatMap(({ alarm }) => alarm ?? []);
  return alarms.length === 0 ? {} : { alarm: alarms.join('; ') };
}

export function describeOtherOrder(contradictions: readonly string[]): string {
  return `the exchange answered a cancellation with another order (${contradictions.join(', ')}): look at the account at once`;
}
