import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';

/** What an order filled, without what its own stop-losses and take-profits have sold, in base units. */
export function leftOf(record: OrderRecord, records: readonly OrderRecord[]): Decimal {
  const made = record.exits.flatMap(({ order }) => (order === null ? [] : [parseDecimal(order.filled)]));
  const kept = records.filter(({ protects }) => protects?.of === record.signalId).map(filledBy);
  const left = [...made, ...kept].reduce((rest, filled) => rest.minus(filled), filledBy(record));
  return left.gt(zero) ? left : zero;
}
