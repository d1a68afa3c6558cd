import { type Decimal, maximum, sumOf, zero } from '../base/decimal.ts';
import type { CountedOrder, CountedPosition } from '../limits/counted-holdings.ts';
import type { Order } from '../model/order.ts';

/** A stop-loss or take-profit that the exchange made, and how it is counted. */
export interface ListedExit {
  readonly order: Pick<Order, 'activationPrice'>;
  readonly counted: CountedOrder;
}

/**
 * What exits can open: the exchange does not mark them as reducing, so those of a position that is smaller by now, or gone,
 * turn it. Of a stop-loss and a take-profit only one is filled.
 *
 * @param others orders that may have changed the positions without their list showing it
 */
export function countExcess(
  exits: readonly ListedExit[],
  positions: readonly CountedPosition[],
  others: readonly CountedOrder[],
): readonly CountedOrder[] {
  // In hedge mode an exit names the position that it closes, and cannot open another one.
  const turning = exits.filter(({ counted }) => (counted.positionSide ?? 'BOTH') === 'BOTH');
  const groups = Map.groupBy(turning, ({ counted }) => `${counted.market} ${counted.side}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { market, side } = first.counted;
    const [stops, targets] = [group.filter(isStop), group.filter((exit) => !isStop(exit))];
    const [stopped, taken] = [countedOf(stops, 'amount'), countedOf(targets, 'amount')];
    const isStopLarger = stopped.gt(taken);
    const [most, notional] = isStopLarger
      ? [stopped, countedOf(stops, 'notional')]
      : [taken, countedOf(targets, 'notional')];
    const excess = most.minus(heldAgainst({ market, side }, positions, others));
    if (excess.lte(zero)) return [];
    const worth = notional.times(excess).div(most);
    return [{ market, side, amount: excess, notional: worth, onlyReduces: false, rests: true }];
  });
}

function isStop({ order }: ListedExit): boolean {
  return order.activationPrice?.gt(zero) === true;
}

function countedOf(exits: readonly ListedExit[], what: 'amount' | 'notional'): Decimal {
  return sumOf(exits.map(({ counted }) => counted[what] ?? zero));
}

/** How much the exits of this side can close. */
function heldAgainst(
  { market, side }: Pick<CountedOrder, 'market' | 'side'>,
  positions: readonly CountedPosition[],
  others: readonly CountedOrder[],
): Decimal {
  const signed = positions
    .filter((position) => position.market === market)
    .reduce((sum, { amount }) => sum.plus(amount), zero);
  const held = side === 'sell' ? signed : signed.neg();
  const opened = others
    .filter((order) => order.market === market && order.side !== side && !order.rests && !order.onlyReduces)
    .reduce((sum, { amount }) => sum.plus(amount ?? zero), zero);
  return maximum(held, zero).plus(opened);
}
