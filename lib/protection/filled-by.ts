import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { OrderRecord } from '../ledger/order-record.ts';

/** What an order filled, without what its own stop-losses and take-profits have sold, in base units. */
export function leftOf(record: OrderRecord, records: readonly OrderRecord[]): Decimal {
  const made = record.exits.flatMap(({ order }) => (order === null ? [] : [parseDecimal(order.filled)]));
  const kept = records.filter(({ protects }) => protects?.of === record.signalId).map(filledBy);
  const left = [...made, ...kept].reduce((rest, filled) => rest.minus(filled), filledBy(record));
  return left.gt(zero) ? left : zero;
}

/** What an order filled, as far as anything has told it, in base units. */
export function filledBy({ followed, reported, proved, spot }: OrderRecord): Decimal {
  // Such a report says what the order has spent, in the quote currency.
  const ofReport = spot?.isQuoteSized === true ? '0' : (reported?.filled ?? '0');
  const told = [parseDecimal(followed?.filled ?? '0'), parseDecimal(ofReport), proved ?? zero];
  return told.reduce((most, filled) => (filled.gt(most) ? filled : most), zero);
}
