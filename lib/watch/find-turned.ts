import { type Decimal, minimum, parseDecimal, zero } from '../base/decimal.ts';
import { type Fill, isOfExit } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';

/** A stop-loss or take-profit of an entry that filled for more than was held, and so opened the opposite position. */
export interface TurningExit {
  readonly fill: Fill;
  /** How much of the position it opened, in base units. */
  readonly opened: Decimal;
}

/** Clocks of the matching and of the lists may differ by so much. */
const sameTimeMs = 1000;

/**
 * The newest fill of an exit that opened a part of this position. The exchange does not mark the exits that it makes of an
 * entry as orders that only reduce: one that fires when its position was reduced or closed a moment before turns it.
 *
 * The position is followed backwards through the fills. While the newest of them is older than its last change, something is
 * not known yet, and nothing is found.
 *
 * @param fills of the account in the last minutes, oldest first
 */
export function findTurningExit(position: OpenPosition, fills: readonly Fill[]): TurningExit | null {
  const { market, amount, positionSide, modifiedAtMs } = position;
  // In hedge mode an exit names the side that it closes.
  if (positionSide !== 'BOTH') return null;
  const own = fills.filter((fill) => fill.market === market);
  const newest = own.at(-1);
  if (newest === undefined || (modifiedAtMs !== null && newest.atMs < modifiedAtMs - sameTimeMs)) return null;
  let after = amount;
  for (const fill of own.toReversed()) {
    const traded = parseDecimal(fill.amount);
    const before = fill.side === 'buy' ? after.minus(traded) : after.plus(traded);
    const isOfThisSide = fill.side === 'buy' ? after.gt(zero) : after.lt(zero);
    if (isOfExit(fill) && isOfThisSide) return { fill, opened: minimum(after.abs(), traded) };
    // What was held before it was turned is another position.
    if (before.times(after).lte(zero)) return null;
    after = before;
  }
  return null;
}
