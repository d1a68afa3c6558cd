import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { isStillOpen, orderOf } from '../model/execution.ts';
import { placesOrder } from '../model/signal.ts';
import type { Entry } from './entry.ts';
import { placedByIn } from './order-facts.ts';

/** What cancellations, and closes that cancelled resting entries first, found out about the orders that they were for. */
export interface CancelReports {
  /** By order id: how much the exchange said was filled of an order that it cancelled, and when that was stored. */
  readonly ended: ReadonlyMap<number, { readonly filled: Decimal; readonly atMs: number }>;
  /** By id of the order's signal: when an order was no longer open. It may have been filled. */
  readonly gone: ReadonlyMap<string, number>;
}

/** Reads the outcomes of the cancellations among these entries, and what their closes cancelled. */
export function cancelReportsIn(entries: readonly Entry[]): CancelReports {
  const ended = new Map<number, { readonly filled: Decimal; readonly atMs: number }>();
  const gone = new Map<string, number>();
  for (const { signal, steps } of entries) {
    if (signal === null) continue;
    // A close has cancelled them before its order, a cancellation with its outcome.
    const step = placesOrder(signal) ? steps.findLast(({ facts }) => facts?.placedBy) : steps.at(-1);
    if (step?.facts === undefined) continue;
    const { cancelled = [], wasGone } = step.facts;
    for (const { orderId, filled } of cancelled)
      ended.set(orderId, { filled: parseDecimal(filled), atMs: step.atMs });
    if (wasGone === true) for (const id of placedByIn({ steps })) gone.set(id, step.atMs);
  }
  return { ended, gone };
}

/** A fill that a cancellation found. */
export interface CancelledFill {
  /** In the unit of the order; null when it may be all of it. */
  readonly filled: Decimal | null;
  /** When the cancellation was answered. */
  readonly atMs: number;
}

/** What a cancellation found of the order of an entry; null when none did, or when the order was gone and its end is known. */
export function findCancelledFill(
  { signalId, orderId, execution }: Entry,
  { ended, gone }: CancelReports,
): CancelledFill | null {
  const report = orderId === null ? undefined : ended.get(orderId);
  if (report !== undefined) return report;
  const own = orderOf(execution, 'order');
  const atMs = gone.get(signalId);
  return atMs === undefined || (own !== null && !isStillOpen(own.status)) ? null : { filled: null, atMs };
}
