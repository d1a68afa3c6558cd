import type { AccountMemory, OrderPlaceName } from './follow-memory.ts';
import type { FollowedEntry } from './followed-entry.ts';
import type { Unnamed } from './followed-exits.ts';
import type { KnownOrder } from './followed-order.ts';

/**
 * Lets the entries claim the exits that the exchange made from them. The oldest entry chooses first, and each order is
 * claimed by one entry at most.
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
  for (const one of followed) {
    const claimed = one.claim(
      memory,
      unnamed.filter(({ orderId }) => !taken.has(orderId)),
    );
    for (const { market, orderId } of claimed) {
      taken.add(orderId);
      take({ market, orderId });
    }
    if (claimed.length > 0) one.judge(memory, nowMs);
  }
}
