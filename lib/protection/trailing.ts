import { type Decimal, parseDecimal, rateOfPercent, zero } from '../base/decimal.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import type { PercentText } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import { type GuardedPosition, shareOut } from './shares.ts';
import { holdsFor, type ProtectionSight } from './wishes.ts';

/** A stop-loss moves when the best price has gone at least this part of its distance further: a bound on orders. */
const leastMoveRate = parseDecimal('0.1');

/**
 * Notes the best price since each trailing stop-loss was asked for. It begins with the first price that is read; of a
 * position that is gone nothing is kept.
 *
 * @param readPrice called only where a stop-loss follows the price; null when it cannot be read
 */
export async function trailPrices(
  {
    position,
    wish,
    records,
  }: {
    readonly position: GuardedPosition;
    readonly wish: PositionWish | null;
    readonly records: readonly OrderRecord[];
  },
  sight: ProtectionSight,
  readPrice: (market: string) => Promise<Decimal | null>,
): Promise<ProtectionSight> {
  const trails = new Map<string, PercentText>();
  for (const { record, amount } of shareOut(records, position)) {
    const trailing = record.asked?.trailing;
    if (trailing !== undefined && amount.gt(zero)) trails.set(record.signalId, trailing);
  }
  if (wish?.trailing !== undefined && holdsFor(wish, position)) trails.set(wish.signalId, wish.trailing);
  if (trails.size === 0) return sight.best.size === 0 ? sight : { ...sight, best: new Map() };
  const last = await readPrice(position.market);
  const best = new Map<string, Decimal>();
  for (const [signalId, trailing] of trails) {
    const price = bestOf(sight.best.get(signalId), last, trailing, position.amount.gt(zero));
    if (price !== null) best.set(signalId, price);
  }
  return { ...sight, best };
}

function bestOf(
  before: Decimal | undefined,
  last: Decimal | null,
  trailing: PercentText,
  isLong: boolean,
): Decimal | null {
  if (before === undefined || last === null) return before ?? last;
  const moved = isLong ? last.minus(before) : before.minus(last);
  const least = before.times(rateOfPercent(trailing)).times(leastMoveRate);
  return moved.gte(least) ? last : before;
}
