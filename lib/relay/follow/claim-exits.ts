import { hasPassed } from '../../base/clock.ts';
import { longestOrderLagMs } from '../../exchange/lag.ts';
import type { AccountMemory, OrderPlaceName } from './follow-memory.ts';
import type { FollowedEntry } from './followed-entry.ts';
import type { Unnamed } from './followed-exits.ts';
import type { KnownOrder } from './followed-order.ts';

/**
 * Lets the entries claim the exits that the exchange made from them. The entry that filled first chooses first: its exits were
 * made first. What was made in the moment in which some of them filled is left to those, and among them to one whose time is
 * exactly its own: of two entries of one moment, the exchange may hide the exits of one. Each order is claimed by one entry at
 * most. One that may be of an order whose fill no list shows yet, or whose outcome is not known yet, waits for that.
 *
 * @param take reads what the lists say of an order
 */
export function claimExits(
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
  unnamed: readonly Unnamed[],
  take: (name: OrderPlaceName) => KnownOrder,
  nowMs: number,
): void {
  const taken = new Set([
    ...memory.claimed,
    ...followed.flatMap(({ names }) => names).map(({ orderId }) => orderId),
  ]);
  const filled = firstFilledFirst(followed, memory);
  const isLate = ({ createdAtMs }: Unnamed) => hasPassed(createdAtMs, longestOrderLagMs, nowMs);
  const mayClaim = new Map(
    unnamed
      .filter(({ orderId }) => !taken.has(orderId))
      .filter((order) => isLate(order) || !followed.some((one) => one.mayHaveMade(order)))
      .flatMap((order) => {
        const made = filled.map((one) => ({ one, hasMade: one.hasJustMade(memory, order) }));
        const exact = made.filter(({ hasMade }) => hasMade === 'exactly');
        const makers = exact.length > 0 ? exact : made.filter(({ hasMade }) => hasMade);
        if (makers.length > 0) return [[order, makers.map(({ one }) => one)] as const];
        // It may be of an order whose outcome is not known yet.
        return isLate(order) ? [[order, filled] as const] : [];
      }),
  );
  for (const one of filled) {
    const free = [...mayClaim.keys()].filter(
      (order) => !taken.has(order.orderId) && mayClaim.get(order)?.includes(one),
    );
    const claimed = one.claim(memory, free);
    for (const { market, orderId } of claimed) {
      taken.add(orderId);
      take({ market, orderId });
    }
    if (claimed.length > 0) one.judge(memory, nowMs);
  }
}

/** Of entries whose fills tell no difference the older one comes first. */
function firstFilledFirst(
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
): readonly FollowedEntry[] {
  return followed
    .flatMap((one) => {
      const fill = one.firstFill(memory);
      return fill === null ? [] : [{ one, fill }];
    })
    .sort((a, b) => a.fill.atMs - b.fill.atMs || a.fill.id - b.fill.id)
    .map(({ one }) => one);
}
