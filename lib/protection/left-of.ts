import { type Decimal, formatDecimal, maximum, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { type ExitRecord, filledBy, listRecords, type OrderRecord } from '../ledger/order-record.ts';
import type { Order } from '../model/order.ts';
import { orderNamedBy } from '../model/protect-id.ts';

/** What an order filled, without what its own stop-losses and take-profits have sold, in base units. */
export function leftOf(record: OrderRecord, records: readonly OrderRecord[]): Decimal {
  const made = record.exits.flatMap(({ order }) => (order === null ? [] : [parseDecimal(order.filled)]));
  const kept = records.filter(({ protects }) => protects?.of === record.signalId).map(filledBy);
  return maximum(filledBy(record).minus(sumOf([...made, ...kept])), zero);
}

/**
 * Whether stop-losses and take-profits have sold all of what orders filled, as far as fills are known: a list of positions that
 * shows none does not lag behind those fills then.
 *
 * @param of of the order of this signal; absent: of every order
 */
export function areSoldOut(entries: readonly Entry[], market: string, of?: string): boolean {
  const records = listRecords(entries).filter((record) => record.market === market);
  const opened = records.filter(
    (record) => record.protects === null && record.spot === null && filledBy(record).gt(zero),
  );
  const asked = of === undefined ? opened : opened.filter(({ signalId }) => signalId === of);
  return asked.length > 0 && asked.every((record) => leftOf(record, records).eq(zero));
}

/**
 * What protects may have sold more than the follower has seen of its fills: the list of open orders was just read, and that an
 * exit is filled is listed before its fills are.
 *
 * @param looked by id of an order that is not listed: what it was found to have sold, in base units
 */
export function asListed(
  records: readonly OrderRecord[],
  open: readonly Order[],
  looked: ReadonlyMap<number, Decimal> = new Map(),
): readonly OrderRecord[] {
  const soldBy = (id: number | null): Decimal => {
    const listed = open.find(({ orderId }) => orderId === id);
    return listed?.amount.minus(listed.remaining) ?? looked.get(id ?? Number.NaN) ?? zero;
  };
  return records.map((record) => {
    // A stop-loss from the command of an alarm protects, too.
    if (record.protects !== null || orderNamedBy(record.signalId) !== null)
      return { ...record, proved: maximum(soldBy(record.orderId), filledBy(record)) };
    const exits = record.exits.map((exit): ExitRecord => {
      const { order } = exit;
      if (order === null) return exit;
      const whole = order.amount === undefined ? filledBy(record) : parseDecimal(order.amount);
      const told = maximum(soldBy(order.orderId), order.status === 'filled' ? whole : zero);
      return {
        ...exit,
        order: { ...order, filled: formatDecimal(maximum(told, parseDecimal(order.filled))) },
      };
    });
    return { ...record, exits };
  });
}
