import { type Decimal, floorToStep, formatDecimal, maximum, minimum, zero } from '../base/decimal.ts';
import type { Market } from '../model/market.ts';
import type { OrderSignal } from '../model/signal.ts';
import type { Holding } from './size-from-account.ts';

/** Whether the spot balance tells something of an order whose size is no share of it. */
export function mayBeCut({ side, size }: Pick<OrderSignal, 'side' | 'size'>): boolean {
  return side === 'sell' && size.unit !== 'percent';
}

/**
 * What of a sale can be sent. A spot buy pays its fee in the base currency, so a sale of all that was bought asks for a
 * little too much. A sale that asks for more than is available by at most the taker fee, of itself or of what was bought before
 * it, is cut to what is available; any other one stays as it was asked for. What other strategies have bought is available to
 * it only where it asks for more than that besides: the little that is missing would be missing in the sale of those. None is
 * cut to nothing, however large the fees were.
 *
 * @param amount of whole steps, in base units
 */
export function cutSale(
  amount: Decimal,
  holding: Holding | null,
  { amountStep, takerFeeRate }: Pick<Market, 'amountStep' | 'takerFeeRate'>,
): Decimal {
  if (holding?.of !== 'spot') return amount;
  const { boughtBefore = amount, ofOthers = zero } = holding;
  const fees = maximum(boughtBefore, amount).times(takerFeeRate);
  const least = floorToStep(amount.minus(fees), amountStep);
  for (const there of [holding.available.minus(ofOthers), holding.available]) {
    const available = floorToStep(there, amountStep);
    if (available.gt(zero) && available.gte(least)) return minimum(available, amount);
  }
  return amount;
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
