import { protectionBoundMs } from '../../account/find-protection.ts';
import { parseDecimal, sumOf, zero } from '../../base/decimal.ts';
import { stepFacts } from '../../ledger/order-facts.ts';
import { isStillOpen, type OrderExecution } from '../../model/execution.ts';
import type { Order } from '../../model/order.ts';
import { mostFeeRate } from '../../protection/spent-sales.ts';
import { sellable } from '../../protection/spot-lots.ts';
import { openStopOf } from './asked-stops.ts';
import type { FollowedEntry } from './followed-entry.ts';
import { heldOf, isStopAgainst, type Keepers, unfilledOf } from './uncovered.ts';
import { sellsLoss } from './uncovered-spot.ts';

/** What would stop out an entry, and what the relay has placed to protect it. */
interface EntryStops {
  readonly stops: readonly OrderExecution[];
  readonly keepers: Keepers;
}

/** The stop-losses of an entry that are open: those that the exchange made of it, and the relay's own. */
export function openStops(one: FollowedEntry, keepers: Keepers): readonly OrderExecution[] {
  const made = one.exits('stop_loss').filter(({ status }) => isStillOpen(status));
  const kept = keepers.get(one.entry.signalId) ?? [];
  return [...made, ...kept.flatMap((keeper) => openStopOf(keeper) ?? [])];
}

/** Whether an order stops out what an entry holds, or did so until it was triggered. */
export function wouldStop({ market, isSpot, signal }: FollowedEntry, order: Order): boolean {
  return order.market === market && (isSpot ? sellsLoss(order) : isStopAgainst(signal.side, order));
}

/** Whether its stop-loss is missing: it was asked for, something filled, and no order would stop the rest out, or not all of it. */
export function lacksStop(one: FollowedEntry, stops: EntryStops, nowMs: number): boolean {
  return (
    one.watched.exitsEnded !== true &&
    one.wanted.some(({ role }) => role === 'stop_loss') &&
    one.held.gt(zero) &&
    !hasStops(one, stops, nowMs)
  );
}

/**
 * Whether there are as many stop-losses as an entry needs: one, or where each is for a part of it, all of them. That of a new fill
 * may not be listed yet.
 */
function hasStops(one: FollowedEntry, { stops, keepers }: EntryStops, nowMs: number): boolean {
  const { own, entry, isSpot } = one;
  if (own === null || stops.some(({ amount }) => amount === undefined)) return true;
  if (stops.length === 0) return false;
  const fresh = parseDecimal(own.filled).minus(one.filledAt(nowMs - protectionBoundMs));
  const left = heldOf(one, keepers)
    .minus(fresh)
    .minus(sumOf(stops.map(unfilledOf)));
  if (!isSpot) return !left.gt(zero);
  // A buy may have paid its fee with what it bought.
  const fee = parseDecimal(own.filled).times(mostFeeRate);
  return !sellable(left.minus(fee), stepFacts(entry, 'sending').spot ?? null).gt(zero);
}
