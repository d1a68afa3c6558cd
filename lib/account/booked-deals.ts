import { type Decimal, sumOf, zero } from '../base/decimal.ts';
import type { OrderDeal } from '../exchange/list-account.ts';

/** A fill whose fee has an asset. */
export type FollowedDeal = OrderDeal & { readonly feeAsset: string };

/** The fills of an order that count, the oldest first. */
export interface BookedDeals {
  readonly deals: readonly FollowedDeal[];
  /** In base units. */
  readonly sum: Decimal;
  /** Those that are listed and do not count, because the order would then have filled beyond its size. */
  readonly surplus: readonly FollowedDeal[];
  /** Whether the order cannot have had the surplus. Until it ends, a report may lag behind its fills. */
  readonly isContradicted: boolean;
}

/** What an order can have filled, in base units. */
export interface FillableSize {
  /** Null when it is not known. */
  readonly amount: Decimal | null;
  /** What a list of orders says; null while none shows it. */
  readonly reported: Decimal | null;
  readonly hasEnded: boolean;
}

/**
 * Chooses the fills that count. An exchange that lists a deal under a second id must not make an order larger than it is:
 * what was booked first stays, else the lowest id.
 *
 * Two makers can give two fills that are alike in everything but the id. So one of two that are alike does not count while
 * the exchange reports that less was filled, nor while nothing says how much can be; beyond the amount of the order, no fill
 * counts.
 *
 * @param stored the ids of those that were booked before
 */
export function bookDeals(
  { amount, reported, hasEnded }: FillableSize,
  deals: Iterable<FollowedDeal>,
  stored: ReadonlySet<number>,
): BookedDeals {
  const listed = [...deals].sort(
    (one, other) =>
      Number(stored.has(other.id)) - Number(stored.has(one.id)) || one.atMs - other.atMs || one.id - other.id,
  );
  const total = tradedIn(listed);
  let excess = total.minus(reported ?? amount ?? zero);
  const surplus = new Set<FollowedDeal>();
  const alike = new Set<string>();
  for (const deal of listed) {
    const isTwin = alike.has(describe(deal));
    if (isTwin && excess.gte(deal.amount)) {
      surplus.add(deal);
      excess = excess.minus(deal.amount);
    }
    alike.add(describe(deal));
  }
  let sum = zero;
  for (const deal of listed) {
    if (surplus.has(deal)) continue;
    const next = sum.plus(deal.amount);
    if (amount !== null && next.gt(amount)) surplus.add(deal);
    else sum = next;
  }
  return {
    deals: listed.filter((deal) => !surplus.has(deal)),
    sum,
    surplus: [...surplus],
    isContradicted: surplus.size > 0 && (hasEnded || (amount !== null && total.gt(amount))),
  };
}

function tradedIn(deals: readonly FollowedDeal[]): Decimal {
  return sumOf(deals.map(({ amount }) => amount));
}

function describe({ atMs, role, amount, price, fee }: FollowedDeal): string {
  return [atMs, role, amount.toFixed(), price.toFixed(), fee.toFixed()].join(' ');
}
