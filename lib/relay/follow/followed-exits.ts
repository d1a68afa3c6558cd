import type { FollowedDeal } from '../../account/booked-deals.ts';
import { type EntryExits, type ExitCandidate, isForAll, mayBeExit } from '../../account/exits.ts';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { WantedExit } from '../../ledger/sent-order.ts';

/** An order of the exchange's lists that carries no client order id: the exchange, or a person, made it. */
export type Unnamed = ExitCandidate & { readonly createdAtMs: number };

/** The exchange makes the exits when the entry fills. Its clock may round one of the two times. */
const earlierMs = 1_000;
const laterMs = 60_000;

/** When the order of an entry was filled. */
export interface FillTimes {
  /** The time of its first fill that is known. */
  readonly firstFillMs: number;
  /** When it ended, or filled last as far as is known; null: of neither anything is known. */
  readonly lastMs: number | null;
  /** The fills that are known, oldest first. */
  readonly fills: readonly Pick<FollowedDeal, 'id' | 'amount' | 'atMs'>[];
}

/**
 * Finds the order that the exchange made for an exit: beside what an exit always has, its amount and its time must fit. When
 * several orders fit, it is the oldest one, whose id is the lowest.
 *
 * @param unclaimed orders that no entry has claimed
 */
export function findExit(
  exits: Pick<EntryExits, 'market' | 'side' | 'entryOrderId' | 'filled'> & { readonly rest: Decimal },
  { firstFillMs, lastMs, fills }: FillTimes,
  wanted: WantedExit,
  unclaimed: readonly Unnamed[],
): Unnamed | null {
  const latestMs = (lastMs ?? Number.POSITIVE_INFINITY) + laterMs;
  const fitting = unclaimed.filter(
    (order) =>
      mayBeExit(exits, wanted, order) &&
      (isForAll(order, exits.filled) || isForPart(order, exits.rest, fills)) &&
      order.createdAtMs >= firstFillMs - earlierMs &&
      order.createdAtMs <= latestMs,
  );
  return fitting.sort((one, other) => one.orderId - other.orderId)[0] ?? null;
}

/** Whether an order was made in the moment of a fill, or of the end of the order. */
export function isOfMoment(order: Unnamed, times: FillTimes): boolean {
  return isMadeWithin(earlierMs, order, times);
}

/** Whether it was made at exactly such a time. */
export function isOfMillisecond(order: Unnamed, times: FillTimes): boolean {
  return isMadeWithin(0, order, times);
}

function isMadeWithin(ms: number, { createdAtMs }: Unnamed, { lastMs, fills }: FillTimes): boolean {
  const times = [...fills.map(({ atMs }) => atMs), ...(lastMs === null ? [] : [lastMs])];
  return times.some((atMs) => Math.abs(createdAtMs - atMs) <= ms);
}

/** The exchange may make exits with each fill: they are for what was filled at once. */
function isForPart({ amount }: Unnamed, rest: Decimal, fills: FillTimes['fills']): boolean {
  if (amount.gt(rest)) return false;
  if (amount.eq(rest)) return true;
  return fills.some((_, first) => {
    let sum = zero;
    return fills.slice(first).some((fill) => {
      sum = sum.plus(fill.amount);
      return sum.eq(amount);
    });
  });
}
