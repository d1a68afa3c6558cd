import { ceilToStep, type Decimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { PositionSide, Side } from '../../model/order.ts';
import {
  type CollateralAccount,
  collateralAccountOf,
  type ExchangeState,
  lastPriceOf,
  type PaperOrder,
} from './exchange-state.ts';
import { marketNamed } from './markets.ts';
import type { Position } from './position-records.ts';

/** The leverages that an account can have. */
export const leverages: readonly number[] = [1, 2, 3, 5, 10, 20, 50, 100];

type PositionName = Pick<PaperOrder, 'account' | 'market' | 'positionSide'>;

/** The key of a position in its account: `BTC_PERP`, in hedge mode `BTC_PERP LONG`. */
export function positionKeyOf(market: string, side: PositionSide): string {
  return side === 'BOTH' ? market : `${market} ${side}`;
}

/** The open position that an order changes. */
export function positionOf(
  state: ExchangeState,
  { account, market, positionSide }: PositionName,
): Position | undefined {
  return collateralAccountOf(state, account).positions.get(positionKeyOf(market, positionSide));
}

/** The signed amount of the position that an order changes; zero if none is open. */
export function positionAmountOf(state: ExchangeState, name: PositionName): Decimal {
  return positionOf(state, name)?.amount ?? zero;
}

/** The part of an amount, in base units, by which an order of that side would reduce a signed position. */
export function closablePart(position: Decimal, side: Side, amount: Decimal): Decimal {
  const isOpposite = side === 'buy' ? position.lt(zero) : position.gt(zero);
  if (!isOpposite) return zero;
  return amount.lt(position.abs()) ? amount : position.abs();
}

/** Whether an order can only reduce its position: by its flag or, in hedge mode, as a sell of a long or a buy of a short. */
export function closesOnly(order: Pick<PaperOrder, 'side' | 'positionSide' | 'reduceOnly'>): boolean {
  return order.reduceOnly || order.positionSide === (order.side === 'sell' ? 'LONG' : 'SHORT');
}

/** The leverage of an account in a market, which has a maximum of its own. */
export function leverageOf({ leverage }: Pick<CollateralAccount, 'leverage'>, market: string): Decimal {
  return parseDecimal(String(Math.min(leverage, marketNamed(market).maxLeverage)));
}

/** The margin of a position in quote units, rounded up to the price step, as in two captures. */
export function marginOf(
  account: Pick<CollateralAccount, 'leverage'>,
  { market, amount, basePrice }: Pick<Position, 'market' | 'amount' | 'basePrice'>,
): Decimal {
  const margin = amount.abs().times(basePrice).div(leverageOf(account, market));
  return ceilToStep(margin, marketNamed(market).priceStep);
}

/** The profit of the open amount at the last price, in quote units. */
export function unrealizedPnlOf(
  state: ExchangeState,
  { market, amount, basePrice }: Pick<Position, 'market' | 'amount' | 'basePrice'>,
): Decimal {
  return lastPriceOf(state, market).minus(basePrice).times(amount);
}
