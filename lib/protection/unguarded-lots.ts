import type { Decimal } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { ownFirst, strategyOf } from '../model/one-strategy.ts';
import { feeOf, isSale, type SoldPart, takeFrom } from './spot-lots.ts';
import { stoppedBy } from './stop-sales.ts';

/** Whether an order is a spot buy that asked for no stop-loss. */
export function isUnguardedBuy({ spot, asked, exits, status }: OrderRecord): boolean {
  return spot !== null && asked?.side === 'buy' && exits.length === 0 && status === 'placed';
}

/**
 * What is left of the spot buys of a market that asked for no stop-loss, by id of their signals, in base units. A sale reduces
 * them by what it sold of no buy with a stop-loss, those of its own strategy and the oldest first. Sales of older buys, which
 * are not among the records, count against these: rather too little is left than too much.
 *
 * @param records of the market, oldest first
 * @param soldOf what each sale sold of the buys with a stop-loss, by the ids of their signals
 */
export function unguardedLots(
  records: readonly OrderRecord[],
  soldOf: ReadonlyMap<string, ReadonlyMap<string, SoldPart>>,
): ReadonlyMap<string, Decimal> {
  const lots = new Map<string, Decimal>();
  for (const [place, record] of records.entries()) {
    if (isUnguardedBuy(record)) lots.set(record.signalId, filledBy(record).minus(feeOf(record)));
    const ofGuarded = soldOf.get(record.signalId);
    const isOther = isSale(record) && record.status === 'placed' && stoppedBy(record, records) === null;
    // A stop-loss sells of other buys what an earlier sale has sold of its own.
    if (!isOther && ofGuarded === undefined) continue;
    const parts =
      ofGuarded === undefined
        ? Object.values(record.soldOf)
        : [...ofGuarded.values()].map(({ amount }) => amount);
    const rest = parts.reduce<Decimal>((sum, part) => sum.minus(part), filledBy(record));
    takeFrom(lots, ownFirst(records.slice(0, place), record.strategy, strategyOf), rest);
  }
  return lots;
}
