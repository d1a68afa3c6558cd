import { type Decimal, formatDecimal, parseDecimal } from '../../base/decimal.ts';
import type { Side } from '../../model/order.ts';
import type { Denial } from '../../model/outcome.ts';
import type { PositionWish } from '../../model/step-facts.ts';
import { checkExitPrices } from '../../signals/size-checks.ts';

/** The prices that an alert asked for, and what they are compared with. */
export interface WishPrices extends Pick<PositionWish, 'stopLoss' | 'takeProfits'> {
  /** Of the orders that opened the position. */
  readonly side: Side;
  readonly last: Decimal;
  readonly market: string;
  readonly quote: string;
}

/**
 * Denies a stop-loss that would close the position at once, and a take-profit that would: they are most likely meant for the
 * other side, or too late.
 */
export function checkWish(wish: WishPrices): Denial | null {
  const { stopLoss, takeProfits = [], side, last, market } = wish;
  const tooFar = checkExitPrices(wish, last, wish, 'last price');
  if (tooFar !== null) return tooFar;
  const price = formatDecimal(last);
  const isLong = side === 'buy';
  if (stopLoss !== undefined && isLong !== parseDecimal(stopLoss).lt(last))
    return {
      rule: 'stop_loss_passed',
      limit: `${isLong ? 'below' : 'above'} ${price}`,
      actual: stopLoss,
      message: `the last price of ${market} is ${price}, and has passed the stop-loss of ${stopLoss}: it would close the position at once; nothing was changed. ${adviseOn(market)}`,
    };
  const reached = takeProfits.find((part) => isLong !== parseDecimal(part.price).gt(last));
  if (reached === undefined) return null;
  return {
    rule: 'take_profit_reached',
    limit: `${isLong ? 'above' : 'below'} ${price}`,
    actual: reached.price,
    message: `the last price of ${market} is ${price}, and has reached the take-profit of ${reached.price}: it would close ${reached.share} of the position at once; nothing was changed. ${adviseOn(market)}`,
  };
}

function adviseOn(market: string): string {
  return `Correct it, or close the position: "action": "close", or \`npx relay close ${market}\``;
}
