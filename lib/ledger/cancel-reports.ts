import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { placesOrder } from '../model/signal.ts';
import type { Entry } from './entry.ts';
import { placedByIn } from './order-facts.ts';

/** What cancellations, and closes that cancelled resting entries first, found out about the orders that they were for. */
export interface CancelReports {
  /** By order id: how much the exchange said was filled of an order that it cancelled, and when that was stored. */
  readonly ended: ReadonlyMap<number, { readonly filled: Decimal; readonly atMs: number }>;
  /** By id of the order's signal: when an order was no longer open. It may have been filled. */
  readonly gone: ReadonlyMap<string, number>;
  /** By order id: what stop-losses on spot were found to have sold, in base units. The follower sees it later. */
  readonly stopsSold: ReadonlyMap<number, Decimal>;
}

/** Reads the outcomes of the cancellations among these entries, and what their closes cancelled. */
export function cancelReportsIn(entries: readonly Entry[]): CancelReports {
  const ended = new Map<number, { readonly filled: Decimal; readonly atMs: number }>();
  const gone = new Map<string, number>();
  const stopsSold = new Map<number, Decimal>();
  for (const { signal, steps } of entries) {
    if (signal === null) continue;
    for (const { facts } of steps)
      for (const [id, amount] of Object.entries(facts?.stopsSold ?? {}))
        stopsSold.set(Number(id), parseDecimal(amount));
    // A close has cancelled them before its order, a cancellation with its outcome.
    const step = placesOrder(signal) ? steps.findLast(({ facts }) => facts?.placedBy) : steps.at(-1);
    if (step?.facts === undefined) continue;
    const { cancelled = [], wasGone } = step.facts;
    for (const { orderId, filled } of cancelled)
      ended.set(orderId, { filled: parseDecimal(filled), atMs: step.atMs });
    if (wasGone === true) for (const id of placedByIn({ steps })) gone.set(id, step.atMs);
  }
  return { ended, gone, stopsSold };
}

/** The ids of the exits that the relay itself has cancelled, because others took their place or nothing was left to protect. */
export function replacedIn(entries: readonly Pick<Entry, 'steps'>[]): ReadonlySet<number> {
  return new Set(entries.flatMap(({ steps }) => steps.flatMap(({ facts }) => facts?.replaced ?? [])));
}
