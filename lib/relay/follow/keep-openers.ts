import { zero } from '../../base/decimal.ts';
import { isMarkedReducing, oppositeOf, type Side } from '../../model/order.ts';
import { asksForExits, guards } from './follow-protection.ts';
import type { FollowedEntry } from './followed-entry.ts';

/**
 * Keeps an order without exits that opened a part of a position in sight for as long as another part is protected. Once it was
 * not read any more, its part would count as one of the older orders, whose stop-losses would grow to it.
 */
export function keepOpeners(followed: readonly FollowedEntry[]): void {
  const going = followed.filter(({ isSpot, isDone }) => !isSpot && !isDone);
  const protectedPlaces = new Set(
    going.flatMap((one) => {
      if (isProtective(one)) return placeOf(one, oppositeOf(one.signal.side));
      return guards(one) ? placeOf(one, one.signal.side) : [];
    }),
  );
  for (const one of followed) {
    if (one.isSpot || isProtective(one) || isMarkedReducing(one.signal) || asksForExits(one)) continue;
    if (one.held.gt(zero) && protectedPlaces.has(placeOf(one, one.signal.side))) one.isDone = false;
  }
}

function isProtective({ entry }: FollowedEntry): boolean {
  return entry.signal?.action === 'protect';
}

/** The market, and the side of the orders that open its position. */
function placeOf({ market, signal: { positionSide = 'BOTH' } }: FollowedEntry, side: Side): string {
  return `${market} ${positionSide} ${side}`;
}
