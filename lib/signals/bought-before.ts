import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';

/**
 * How much this relay has bought on spot of what a sale closes, parts that it has sold since included. The fee of each of
 * these buys can be missing in the balance: a part sold in between was sold as the alert asked for it.
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

/** A sale that was cut to what there was has sold all that its alert asked for. */
function soldBy({ asked, amount }: OrderRecord, filled: Decimal): Decimal {
  const isWhole = amount !== null && filled.gte(amount);
  if (!isWhole || asked?.size.unit !== 'base') return filled;
  const wanted = parseDecimal(asked.size.quantity);
  return wanted.gt(filled) ? wanted : filled;
}
