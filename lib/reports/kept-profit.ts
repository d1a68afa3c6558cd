import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import { isStillOpen, type OrderExecution } from '../model/execution.ts';
import { currenciesInName } from '../model/market.ts';
import { feesOf } from './entry-ending.ts';

/**
 * What an order that the relay placed to protect an entry made of what it closed: against the average price of that entry,
 * after its fees and their share of the entry's.
 *
 * @param opener the entry's order
 * @param kept the order that protected it
 * @returns null where these two do not tell it
 */
export function profitOfKept(opener: OrderRecord, kept: OrderExecution): Decimal | null {
  const { side, followed: own, spot, status } = opener;
  if (status !== 'placed' || side === null || own === null || isStillOpen(own.status)) return null;
  const currencies = currenciesInName(opener.market);
  const filled = parseDecimal(own.filled);
  const closed = parseDecimal(kept.filled);
  // A fee in a third currency has no price here.
  const isValued = ({ fees }: OrderExecution) =>
    Object.keys(fees).every((asset) => asset === currencies.base || asset === currencies.quote);
  if (!isValued(own) || !isValued(kept)) return null;
  // On spot the fee of a buy is taken from what it bought.
  const opened = spot === null ? filled : filled.minus(parseDecimal(own.fees[currencies.base] ?? '0'));
  if (!closed.gt(zero) || closed.gt(opened)) return null;
  const cost = parseDecimal(own.filledNotional).times(closed).div(filled);
  const worth = parseDecimal(kept.filledNotional);
  const gross = side === 'buy' ? worth.minus(cost) : cost.minus(worth);
  const ofEntry = feesOf(own, currencies).times(closed).div(opened);
  return gross.minus(ofEntry).minus(feesOf(kept, currencies));
}
