import { ceilToStep, type Decimal, formatDecimal, one } from '../base/decimal.ts';
import type { Account, StopKind } from '../model/account.ts';
import type { Market } from '../model/market.ts';
import type { OrderType } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import { regionOrderTypes } from '../model/region.ts';
import type { OrderSignal } from '../model/signal.ts';
import { limitBeyond } from '../orders/stop-limit.ts';

const spotStopTypes: Readonly<Record<StopKind, OrderType>> = {
  limit: 'spot_stop_limit',
  market: 'spot_stop_market',
};

/**
 * Why the relay keeps no stop-loss of an order on spot; null when it keeps it, or when there is none to keep. The exchange
 * makes none there: the relay places it when the order has filled.
 */
export function findStopObstacle(
  signal: OrderSignal,
  { name, protection, stopKind, region }: Account,
): { readonly field: string; readonly reason: string } | null {
  const { stopLoss, takeProfit, takeProfits, trailing, side } = signal;
  if (takeProfit !== undefined || takeProfits !== undefined)
    return {
      field: 'takeProfit',
      reason:
        'where one order alone can hold what was bought: send "stopLoss" without a take-profit, and sell with an alert when the target is reached, or trade the market on margin (tradesOn in relay.config.ts)',
    };
  if (trailing !== undefined)
    return {
      field: 'trailing',
      reason: 'where a stop-loss stays at its price; write "stopLoss" with a price or a distance',
    };
  if (stopLoss === undefined) return null;
  if (side === 'sell')
    return { field: 'stopLoss', reason: 'where a sale opens nothing to protect; remove "stopLoss"' };
  if (protection !== 'keep')
    return {
      field: 'stopLoss',
      reason: `where the exchange has no stop-loss of an order: the relay places it itself for an account with protection: 'keep', and account ${name} has not; set it in relay.config.ts, or send a ${region === null ? 'stop_limit' : 'stop_market'} order of the other side after the entry`,
    };
  if (region !== null && !regionOrderTypes[region].includes(spotStopTypes[stopKind ?? 'limit']))
    return {
      field: 'stopLoss',
      reason: `where the exchange takes only stop-market orders in the region of account ${name}: set stopKind: 'market' in relay.config.ts`,
    };
  return null;
}

/** Denies a stop-loss of a spot buy that would be too small for an order. */
export function checkSpotStop(stopLoss: Decimal, amount: Decimal, market: Market): Denial | null {
  const least = leastAt(stopLoss, market);
  const left = amount.times(one.minus(market.takerFeeRate));
  if (left.gte(least)) return null;
  return {
    rule: 'stop_loss_too_small',
    limit: formatDecimal(least),
    actual: formatDecimal(left),
    message: `the buy leaves ${formatDecimal(left)} ${market.base} after its fee, and at its stop-loss of ${formatDecimal(stopLoss)} ${market.quote} no order below ${formatDecimal(least)} can be sent; raise the size for ${market.name}`,
  };
}

/** The smallest amount that can be sold at a stop-loss, in base units. */
export function leastAt(
  stopLoss: Decimal | null,
  { minAmount, minTotal, amountStep }: Pick<Market, 'minAmount' | 'minTotal' | 'amountStep'>,
): Decimal {
  if (stopLoss === null) return minAmount;
  const lowestPrice = limitBeyond(stopLoss, 'sell', {});
  const least = ceilToStep(minTotal.div(lowestPrice), amountStep);
  return least.gt(minAmount) ? least : minAmount;
}
