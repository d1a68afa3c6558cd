import { type Decimal, floorToStep, formatDecimal, maximum, minimum, zero } from '../base/decimal.ts';
import type { Market } from '../model/market.ts';
import type { OrderSignal } from '../model/signal.ts';
import { besideOthers, type Holding } from './size-from-account.ts';

/** Whether the spot balance tells something of an order whose size is no share of it. */
export function mayBeCut({ side, size }: Pick<OrderSignal, 'side' | 'size'>): boolean {
  return side === 'sell' && size.unit !== 'percent';
}

/**
 * What of a sale can be sent. A spot buy pays its fee in the base currency, so a sale of all that was bought asks for a
 * little too much. A sale that asks for more than is available by at most the taker fee, of itself or of what was bought before
 * it, is cut to what is available; any other one stays as it was asked for. What it leaves to other strategies is not available
 * to it. None is cut to nothing, however large the fees were.
 *
 * @param amount of whole steps, in base units
 */
export function cutSale(
  amount: Decimal,
  holding: Holding | null,
  { amountStep, takerFeeRate }: Pick<Market, 'amountStep' | 'takerFeeRate'>,
): Decimal {
  if (holding?.of !== 'spot') return amount;
  const { boughtBefore = amount } = holding;
  const fees = maximum(boughtBefore, amount).times(takerFeeRate);
  const least = floorToStep(amount.minus(fees), amountStep);
  const available = floorToStep(besideOthers(holding), amountStep);
  return available.gt(zero) && available.gte(least) ? minimum(available, amount) : amount;
}

/** What the operator should know of a sale that was cut. */
export function describeCut(
  from: Decimal,
  to: Decimal,
  holding: Holding | null,
  { base, amountStep }: Pick<Market, 'base' | 'amountStep'>,
): string {
  const isAll = holding?.of !== 'spot' || to.gte(floorToStep(holding.available, amountStep));
  const others = isAll ? '' : ' beside what other strategies have bought';
  return `cut from ${formatDecimal(from)} to ${formatDecimal(to)} ${base}, which is all that is available${others}: the rest is no more than the fee of what was bought`;
}
