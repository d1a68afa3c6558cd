import { type Decimal, floorToStep, parseDecimal } from '../../base/decimal.ts';
import type { Random } from '../../base/random.ts';
import type { PaperMarket } from '../engine/markets.ts';

/** The largest price change of one step, up or down, in basis points (0.01 %). */
const largestStepBasisPoints = 10;
const largestVolumeUnits = 5000;
const half = parseDecimal('0.5');
const double = parseDecimal('2');
const oneBasisPoint = parseDecimal('0.0001');

/** The next trade of a random walk between half and twice the start price. */
export function walkPrice(
  market: PaperMarket,
  lastPrice: Decimal,
  random: Random,
): { readonly price: Decimal; readonly volume: Decimal } {
  const basisPoints = 1 + Math.floor(random() * largestStepBasisPoints);
  const distance = lastPrice.times(oneBasisPoint).times(parseDecimal(String(basisPoints)));
  const step = floorToStep(distance, market.priceStep);
  const goesUp = pullOf(market, lastPrice) ?? random() < 0.5;
  const units = parseDecimal(String(1 + Math.floor(random() * largestVolumeUnits)));
  return {
    price: goesUp ? lastPrice.plus(step) : lastPrice.minus(step),
    volume: market.minAmount.times(units),
  };
}

/** Whether the walk must go up (true) or down (false); null inside its range, where chance decides. */
function pullOf(market: PaperMarket, lastPrice: Decimal): boolean | null {
  if (lastPrice.lte(market.startPrice.times(half))) return true;
  return lastPrice.gte(market.startPrice.times(double)) ? false : null;
}
