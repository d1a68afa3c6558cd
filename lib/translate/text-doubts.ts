import { hintForForeignField } from '../signals/foreign-words.ts';

/** Why the meaning of a text cannot be told. None contains a word of the text that is not one of the relay's vocabulary. */

export const stopDoubt =
  'the number after "stop" may be a stop-loss ("stopLoss") or the price at which the order becomes active ("stopPrice")';

export const priceDoubt =
  'the number after "@", "at" or "price" may be a limit ("orderType": "limit" with "limitPrice"), the size, or the last price';

/** Of texts that post a trade, the number after "buy" is where to enter. */
export const entryDoubt =
  'its number without a name is as large as its prices: it may be the price of the entry and not the size: name each, "quantity" and "limitPrice"';

/** Without its exit the message would not mean the same. */
export const exitDoubt =
  'it asks for an exit that cannot be told: give a fixed "stopLoss" or "takeProfit", a price or a distance such as "2%"; or "trailing", a per cent such as "1.5%"';

/** On a market with positions a share of a sell may be one of the position. */
export const shareDoubt =
  'the per cent of a sell may be a share of the balance, which can open a short position, or of the position: for the position write "quantityPercent" with "of": "position", or "action": "exit_long"';

/** In its own unit the number would be another size or another distance. */
export const unitDoubt =
  'a number is in a unit that the relay has not, or that is no currency of the ticker: give a size in a currency of the ticker or in per cent, and an exit as a price or in per cent';

/** @param name what the text calls the series: `dca`, `grid` */
export function seriesDoubt(name: string): string {
  return `"${name}" asks for several orders: ${hintForForeignField('dca')}`;
}
