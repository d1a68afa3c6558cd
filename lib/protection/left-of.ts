import { type Decimal, maximum, parseDecimal, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import type { Order } from '../model/order.ts';

/** What an order filled, without what its own stop-losses and take-profits have sold, in base units. */
export function leftOf(record: OrderRecord, records: readonly OrderRecord[]): Decimal {
  const made = record.exits.flatMap(({ order }) => (order === null ? [] : [parseDecimal(order.filled)]));
  const kept = records.filter(({ protects }) => protects?.of === record.signalId).map(filledBy);
  const left = [...made, ...kept].reduce((rest, filled) => rest.minus(filled), filledBy(record));
  return left.gt(zero) ? left : zero;
}

/** The list of open orders was just read: what protects may have sold more by it than the follower has seen of its fills. */
export function asListed(records: readonly OrderRecord[], open: readonly Order[]): readonly OrderRecord[] {
  return records.map((record) => {
    const listed =
      record.protects === null ? undefined : open.find(({ orderId }) => orderId === record.orderId);
    if (listed === undefined) return record;
    return { ...record, proved: maximum(listed.amount.minus(listed.remaining), filledBy(record)) };
  });
}
