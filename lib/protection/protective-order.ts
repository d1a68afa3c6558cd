import { type Decimal, formatDecimal, minimum, one, parseDecimal } from '../base/decimal.ts';
import type { Account } from '../model/account.ts';
import type { PositionSide, Side } from '../model/order.ts';
import type { ExitRole } from '../model/signal.ts';
import type { ProtectiveOrder } from '../model/step-facts.ts';

/** A stop-loss or take-profit that is to be placed. */
export interface WantedOrder {
  readonly role: ExitRole;
  readonly side: Side;
  /** In base units. */
  readonly amount: Decimal;
  /** The trigger price of a stop-loss, or the limit price of a take-profit. */
  readonly price: Decimal;
  readonly positionSide: PositionSide | undefined;
}

/** How far beyond its trigger price the limit price of a stop-loss lies, unless the account allows less. */
const limitRate = parseDecimal('0.01');

/** The order that makes a stop-loss or take-profit, as the account allows it. */
export function protectiveOrder(
  { role, side, amount, price, positionSide }: WantedOrder,
  { stopKind = 'limit', maxLimitDistanceRate }: Pick<Account, 'stopKind' | 'maxLimitDistanceRate'>,
): ProtectiveOrder {
  const shared = {
    side,
    amount: formatDecimal(amount),
    ...(positionSide === undefined ? {} : { positionSide }),
  };
  if (role === 'take_profit') return { ...shared, orderType: 'limit', limitPrice: formatDecimal(price) };
  const stopPrice = formatDecimal(price);
  if (stopKind === 'market') return { ...shared, orderType: 'stop_market', stopPrice };
  const rate = minimum(limitRate, maxLimitDistanceRate ?? limitRate);
  const limit = price.times(side === 'sell' ? one.minus(rate) : one.plus(rate));
  return { ...shared, orderType: 'stop_limit', stopPrice, limitPrice: formatDecimal(limit) };
}
