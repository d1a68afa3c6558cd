import { sameTimeMs } from '../../account/find-turned.ts';
import type { SeenPosition } from '../../account/seen-position.ts';
import { zero } from '../../base/decimal.ts';
import { longestPositionLagMs } from '../../exchange/lag.ts';
import { listFills } from '../../ledger/executions.ts';
import { mostBelieved } from '../../ledger/ledger.ts';
import type { Account } from '../../model/account.ts';
import type { Fill } from '../../model/execution.ts';
import { openingSideOf } from '../../model/holdings.ts';
import type { ExecuteServices } from '../services.ts';
import { type Claimant, type MarketOwner, mayOpenFor } from './one-strategy.ts';

/** A position, and when it was opened on the exchange's clock; null when nobody says. */
export interface DatedOpening extends SeenPosition {
  readonly openedAtMs: number | null;
}

/**
 * Whether deals prove that somebody else opened a position, by hand or with an alert of no strategy, and that the owner of its
 * market has added nothing since. While an order of the owner is open or followed, or its outcome is not known, its deals may not
 * all be known as its own: that proves nothing.
 *
 * @throws RelayError `store_unavailable`
 */
export async function isOpenedByOthers(
  services: ExecuteServices,
  { name: account }: Account,
  signal: Claimant,
  owner: MarketOwner,
  { amount, side, openedAtMs }: DatedOpening,
): Promise<boolean> {
  if (openedAtMs === null || amount.eq(zero)) return false;
  // In this order: an order is open, then followed, and then all its deals are stored. None can slip through in between.
  const open = await services.ledger.openOrders(account, signal.market, mostBelieved);
  const followed = await services.executions.followed(account, mostBelieved);
  if (Math.max(open.length, followed.length) === mostBelieved) return false;
  const own = [...open, ...followed].filter((entry) => mayOpenFor(entry, owner, signal));
  if (own.some((entry) => entry.signal?.market === signal.market)) return false;
  const opening = openingSideOf(amount);
  const isOfPosition = (fill: Fill) =>
    fill.market === signal.market &&
    fill.side === opening &&
    (fill.positionSide ?? null) === side &&
    fill.onSpot !== true;
  const untilMs = services.clock.nowMs() + longestPositionLagMs;
  const { ledger } = services;
  const seen = new Set<number>();
  let isOpeningKnown = false;
  for await (const fill of listFills(services.executions, account, openedAtMs - sameTimeMs, untilMs)) {
    if (!isOfPosition(fill)) continue;
    isOpeningKnown ||= fill.atMs <= openedAtMs + sameTimeMs;
    // The deals are the oldest first: what opened the position is among the first ones.
    if (!isOpeningKnown) return false;
    const { signalId, market, orderId } = fill;
    if (seen.has(orderId)) continue;
    seen.add(orderId);
    // A deal of no signal may be of an order that was followed no more when the deal was listed.
    const isOther = signalId === '';
    const entry = isOther
      ? await ledger.findOrder(account, market, orderId)
      : await ledger.read({ account, signalId });
    if (isOther && entry === null) continue;
    if (entry?.signal == null || entry.signal.strategy === owner.strategy) return false;
  }
  return isOpeningKnown;
}
