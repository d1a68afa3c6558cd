import { type Decimal, rateOfPercent, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { averagePrice, type OrderRecord } from '../ledger/order-record.ts';
import type { PercentText } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import { type GuardedPosition, shareOut } from './shares.ts';
import { leastMoveRate } from './wanted.ts';
import { holdsFor, type ProtectionSight } from './wishes.ts';

/** A position, and what asked for its stop-losses. */
export interface Trailed {
  readonly position: GuardedPosition;
  readonly wishes: readonly PositionWish[];
  /** Of the market, oldest first. */
  readonly records: readonly OrderRecord[];
}

/**
 * Notes the best price since each trailing stop-loss was asked for. It begins with the price at which its order filled, or at
 * which the alert about the position was carried out. It is kept while the order is followed, or the alert is stored, also while
 * nothing seems to be left: its stop-loss must not move back when the owner buys again, or after a list that lagged.
 *
 * @param readPrice called only where a stop-loss follows the price; null when it cannot be read
 */
export async function trailPrices(
  trailed: Trailed,
  sight: ProtectionSight,
  readPrice: (market: string) => Promise<Decimal | null>,
): Promise<ProtectionSight> {
  const trails = listTrails(trailed);
  const kept = keptPrices(trailed, sight);
  if (trails.length === 0) return kept.length === sight.best.size ? sight : { ...sight, best: new Map(kept) };
  const { market, amount } = trailed.position;
  const last = await readPrice(market);
  const best = trails.flatMap(({ of, trailing, from }) => {
    const price = bestOf(sight.best.get(of) ?? from, last, trailing, amount.gt(zero));
    return price === null ? [] : [[of, price] as const];
  });
  return { ...sight, best: new Map([...kept, ...best]) };
}

/** Of the orders that are followed, and of what alerts asked for a position that would be known again by its time. */
function keptPrices(
  { records, wishes }: Trailed,
  { best }: ProtectionSight,
): readonly (readonly [string, Decimal])[] {
  const known = wishes.filter(
    ({ trailing, openedAtMs }) => trailing !== undefined && openedAtMs !== undefined,
  );
  const kept = new Set([...records, ...known].map(({ signalId }) => signalId));
  return [...best].filter(([of]) => kept.has(of));
}

interface Trail {
  /** The signal that asked for it. */
  readonly of: string;
  readonly trailing: PercentText;
  /** The price from which on it follows; null when it is not known. */
  readonly from: Decimal | null;
}

function listTrails({ position, wishes, records }: Trailed): readonly Trail[] {
  const ofOrders = shareOut(records, position).flatMap(({ record, amount }) => {
    const trailing = record.asked?.trailing;
    if (trailing === undefined || !amount.gt(zero)) return [];
    return [{ of: record.signalId, trailing, from: averagePrice(record) }];
  });
  const ofWishes = wishes.flatMap((wish) => {
    const { signalId: of, trailing, from } = wish;
    if (trailing === undefined || !holdsFor(wish, position)) return [];
    return [{ of, trailing, from: decimalIn(from) }];
  });
  return [...ofOrders, ...ofWishes];
}

function bestOf(
  before: Decimal | null,
  last: Decimal | null,
  trailing: PercentText,
  isLong: boolean,
): Decimal | null {
  if (before === null || last === null) return before ?? last;
  const moved = isLong ? last.minus(before) : before.minus(last);
  const least = before.times(rateOfPercent(trailing)).times(leastMoveRate);
  return moved.gte(least) ? last : before;
}
