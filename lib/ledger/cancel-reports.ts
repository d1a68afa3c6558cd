import type { Decimal } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import { placesOrder } from '../model/signal.ts';
import type { Entry } from './entry.ts';

/** What cancellations found out about the orders that they were for. */
export interface CancelReports {
  /** By order id: how much the exchange said was filled of an order that it cancelled, and when that was stored. */
  readonly ended: ReadonlyMap<number, { readonly filled: Decimal; readonly atMs: number }>;
  /** By id of the order's signal: when an order was no longer open. It may have been filled. */
  readonly gone: ReadonlyMap<string, number>;
}

/** Reads the outcomes of the cancellations among these entries. */
export function cancelReportsIn(entries: readonly Entry[]): CancelReports {
  const ended = new Map<number, { readonly filled: Decimal; readonly atMs: number }>();
  const gone = new Map<string, number>();
  for (const { signal, steps } of entries) {
    const last = steps.at(-1);
    if (signal === null || placesOrder(signal) || last === undefined) continue;
    const objects = listObjects(last.evidence);
    for (const { orderId, filled } of objects) {
      const [id, amount] = [numberIn(orderId), decimalIn(filled)];
      if (id !== null && amount !== null) ended.set(id, { filled: amount, atMs: last.atMs });
    }
    if (!objects.some(({ wasGone }) => wasGone === true)) continue;
    const placedBy = fieldsOf(steps.find(({ status }) => status === 'sending')?.evidence)['placedBy'];
    for (const id of [placedBy ?? null].flat()) if (typeof id === 'string') gone.set(id, last.atMs);
  }
  return { ended, gone };
}

/** Every object in it, at whatever depth. */
function listObjects(json: Json | undefined): readonly Readonly<Record<string, Json>>[] {
  if (Array.isArray(json)) return json.flatMap(listObjects);
  const fields = fieldsOf(json);
  return [
    fields,
    ...Object.values(fields).flatMap((value) => (typeof value === 'object' ? listObjects(value) : [])),
  ];
}
