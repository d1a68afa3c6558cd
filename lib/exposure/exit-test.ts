import { type Decimal, parseDecimal } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { exitPricesIn } from '../ledger/order-facts.ts';
import { exitIdsOf } from '../model/execution.ts';
import { exitPriceOf, type Order, oppositeOf, type Side } from '../model/order.ts';
import { orderSignalOf } from '../positions/sent-order.ts';

/**
 * Recognises the stop-loss and take-profit orders that the exchange made from these entries: by their ids, or before they
 * were followed by the prices that were sent with the entry.
 */
export function exitTest(entries: readonly Entry[]): (order: Order) => boolean {
  const ids = new Set(entries.flatMap(({ execution }) => exitIdsOf(execution)));
  const planned = new Set(entries.flatMap(plannedExits));
  return (order) =>
    ids.has(order.orderId) ||
    (order.clientOrderId === '' && planned.has(nameExit(order.market, order.side, exitPriceOf(order))));
}

function plannedExits(entry: Entry): readonly string[] {
  const { signal, steps } = entry;
  const side = orderSignalOf(entry)?.side;
  if (signal === null || side === undefined || entry.status !== 'placed') return [];
  const { stopLoss, takeProfit } = exitPricesIn(steps);
  return [stopLoss, takeProfit].flatMap((price) =>
    price === undefined ? [] : [nameExit(signal.market, oppositeOf(side), parseDecimal(price))],
  );
}

function nameExit(market: string, side: Side, price: Decimal): string {
  return `${market} ${side} ${price.toFixed()}`;
}
