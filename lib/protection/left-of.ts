import { type Decimal, formatDecimal, maximum, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { type ExitRecord, filledBy, listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { mayStillBeOpen } from '../model/execution.ts';
import type { Order } from '../model/order.ts';
import { orderNamedBy } from '../model/protect-id.ts';

/** What an order filled, without what its own stop-losses and take-profits have sold, in base units. */
export function leftOf(record: OrderRecord, records: readonly OrderRecord[]): Decimal {
  const made = record.exits.flatMap(({ order }) => (order === null ? [] : [parseDecimal(order.filled)]));
  const kept = records.filter(({ protects }) => protects?.of === record.signalId).map(filledBy);
  return maximum(filledBy(record).minus(sumOf([...made, ...kept])), zero);
}

/**
 * Whether stop-losses and take-profits have sold all of what orders filled, as far as fills are known, and none of these orders
 * can fill any more: a list of positions that shows none does not lag behind those fills then. An order that closes a position
 * counts as one that opens: while it is followed, nothing is known by this.
 *
 * @param of of the order of this signal; absent: of every order
 */
export function areSoldOut(entries: readonly Entry[], market: string, of?: string): boolean {
  const records = listRecords(entries).filter((record) => record.market === market);
  const orders = records.filter(({ protects, spot, status }) => {
    const isOpening = protects === null && spot === null;
    return isOpening && (status === 'placed' || status === 'unknown' || status === 'sending');
  });
  const asked = of === undefined ? orders : orders.filter(({ signalId }) => signalId === of);
  return asked.length > 0 && asked.every((record) => isOver(record) && leftOf(record, records).eq(zero));
}

/** Whether nothing of an order can fill any more, and all of its fills are known. */
function isOver(record: OrderRecord): boolean {
  const { status, state, hadRest, cancelled } = record;
  const isTold = cancelled === null || cancelled.filled?.lte(filledBy(record)) === true;
  return status === 'placed' && !mayStillBeOpen(state) && !hadRest && isTold;
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
