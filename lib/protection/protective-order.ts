import { type Decimal, formatDecimal } from '../base/decimal.ts';
import type { Account, StopKind } from '../model/account.ts';
import { type PositionSide, type Side, usualTriggerSides } from '../model/order.ts';
import type { ExitRole } from '../model/signal.ts';
import type { ProtectiveOrder, ProtectivePrices } from '../model/step-facts.ts';
import { limitBeyond } from '../orders/stop-limit.ts';

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

/** The order that makes a stop-loss or take-profit, as the account allows it. */
export function protectiveOrder(wanted: WantedOrder, account: StopAccount): ProtectiveOrder {
  const { role, price } = wanted;
  const prices =
    role === 'take_profit'
      ? ({ orderType: 'limit', limitPrice: formatDecimal(price) } as const)
      : stopPrices[account.stopKind ?? 'limit'](wanted, account);
  return { ...sharedBy(wanted), ...prices };
}

/** The order that sells at market what a stop-loss should have sold. */
export function marketOrder(wanted: Omit<WantedOrder, 'role' | 'price'>): ProtectiveOrder {
  return { ...sharedBy(wanted), orderType: 'market' };
}

function sharedBy({ side, amount, positionSide }: Omit<WantedOrder, 'role' | 'price'>) {
  return { side, amount: formatDecimal(amount), ...(positionSide === undefined ? {} : { positionSide }) };
}

type StopAccount = Pick<Account, 'stopKind' | 'maxLimitDistanceRate'>;

const stopPrices: Readonly<
  Record<StopKind, (wanted: WantedOrder, account: StopAccount) => ProtectivePrices>
> = {
  limit({ side, price }, account) {
    const limit = limitBeyond(price, side, account);
    return { orderType: 'stop_limit', limitPrice: formatDecimal(limit), ...triggerOf(side, price) };
  },
  market: ({ side, price }) => ({ orderType: 'stop_market', ...triggerOf(side, price) }),
};

/** A stop-loss that would wait for the price to move the other way protects nothing. */
function triggerOf(side: Side, price: Decimal) {
  return { stopPrice: formatDecimal(price), expectTrigger: usualTriggerSides[side] };
}
