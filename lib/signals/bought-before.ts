import { type Decimal, maximum, parseDecimal, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { mayStillBeOpen } from '../model/execution.ts';

/**
 * How much this relay has bought on spot of what a sale closes, parts that it has sold since included. The fee of each of
 * these buys can be missing in the balance: a part sold in between was sold as the alert asked for it. What a resting sale holds
 * counts as sold.
 *
 * @param records oldest first
 * @param amount of the sale, in base units
 */
export function boughtBefore(records: readonly OrderRecord[], market: string, amount: Decimal): Decimal {
  let [rest, bought] = [amount, zero];
  for (const record of records.toReversed()) {
    if (record.market !== market || record.spot === null || record.status !== 'placed') continue;
    const filled = filledBy(record);
    if (record.asked?.side === 'sell') rest = rest.plus(soldBy(record, filled));
    else {
      rest = rest.minus(filled);
      bought = bought.plus(filled);
    }
    if (!rest.gt(zero)) break;
  }
  return bought;
}

/** A sale that was cut to what there was sells all that its alert asked for. */
function soldBy({ asked, amount, protects, state }: OrderRecord, filled: Decimal): Decimal {
  if (amount === null) return filled;
  // What the relay's own stop-losses hold can be sold.
  const isHeld = protects === null && mayStillBeOpen(state);
  const sold = isHeld ? maximum(amount, filled) : filled;
  if (sold.lt(amount) || asked?.size.unit !== 'base') return sold;
  return maximum(parseDecimal(asked.size.quantity), sold);
}
