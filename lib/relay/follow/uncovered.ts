import { type Decimal, maximum, minimum, parseDecimal, sumOf, zero } from '../../base/decimal.ts';
import { listRecords } from '../../ledger/order-record.ts';
import type { OrderExecution } from '../../model/execution.ts';
import { type OpenPosition, openedBy } from '../../model/holdings.ts';
import { isMarkedReducing, type Order, oppositeOf, type Side, stopsLoss } from '../../model/order.ts';
import { isProtecting } from '../../model/signal.ts';
import { type AttachedExit, attachedExits } from '../../protection/other-stops.ts';
import { mayBeOf } from '../../protection/shares.ts';
import type { FollowedEntry } from './followed-entry.ts';

/** What is left of a position when every stop-loss that covers it is taken away, and how large the position is. */
export interface Naked {
  readonly position: Decimal;
  /** The part of the entry that nothing stops out. */
  readonly uncovered: Decimal;
  /** Whether newer entries are all that is left of the position. */
  readonly isGone: boolean;
  /** False when an open order cannot be read, which may be its stop-loss. */
  readonly isSure: boolean;
}

interface Standing {
  readonly nowMs: number;
  readonly resting: ReadonlySet<number>;
  stopsOf(one: FollowedEntry): readonly OrderExecution[];
}

/**
 * Shares what no stop-loss covers among the entries that lack theirs. A position is reduced from its oldest entry on, so
 * the newest entry must be taken first.
 *
 * @param now.resting the ids of open orders that stop out nothing any more
 * @param now.stopsOf the stop-losses of an entry that stand; they are for that entry, whatever else the position holds
 */
export function createUncovered(
  positions: readonly OpenPosition[],
  open: readonly Order[],
  followed: readonly FollowedEntry[],
  { nowMs, resting, stopsOf }: Standing,
) {
  const stopping = open.filter(({ orderId }) => !resting.has(orderId));
  const keepers = findKeepers(followed);
  const withStop = positions.filter(({ tpsl }) => tpsl?.stopLossId != null);
  const records = withStop.length === 0 ? [] : listRecords(followed.map((one) => one.currentAt(nowMs)));
  const attached = new Map(
    withStop.map((position) => [position, attachedExits(position, records, open).find(isStop)]),
  );
  const bare = positions.filter((position) => attached.get(position)?.of !== null);
  const newer = newerThanEach(followed, keepers);
  const left = new Map<string, Decimal>();
  return {
    /** @param isHidden whether an order of its market may be open that could not be read */
    take(one: FollowedEntry, isHidden: boolean): Naked {
      const { market } = one;
      const held = heldOf(one, keepers).minus(sumOf(stopsOf(one).map(unfilledOf)));
      const { side } = one.signal;
      const key = `${market} ${side}`;
      const rest = left.get(key) ?? uncoveredOf(openedBy(bare, market, side), stopping, market, side);
      // A position that was opened later is another one: that of the entry is gone.
      const position = openedBy(
        positions.filter((other) => mayBeOf(filledAs(one), other)),
        market,
        side,
      );
      const isAttached = [...attached.values()].some((stop) => stop?.of === one.entry.signalId);
      const uncovered = isAttached ? zero : maximum(minimum(minimum(held, rest), position), zero);
      left.set(key, one.watched.unprotectedSinceMs === undefined ? rest : rest.minus(uncovered));
      const isGone = (newer.get(one) ?? zero).gte(position);
      return { position, uncovered, isGone, isSure: !isHidden };
    },
  };
}

function isStop({ role }: AttachedExit): boolean {
  return role === 'stop_loss';
}

/** By id of an entry: the orders that this relay placed to protect what it filled. */
export type Keepers = ReadonlyMap<string, readonly FollowedEntry[]>;

export function findKeepers(followed: readonly FollowedEntry[]): Keepers {
  return Map.groupBy(followed, ({ entry: { signal } }) => (isProtecting(signal) ? signal.of : ''));
}

/** What of an entry has left the position neither through its exits nor through an order that protected it. */
export function heldOf({ entry, held }: FollowedEntry, keepers: Keepers): Decimal {
  const kept = keepers.get(entry.signalId) ?? [];
  const left = kept.reduce((rest, { own }) => rest.minus(parseDecimal(own?.filled ?? '0')), held);
  return maximum(left, zero);
}

/** What is left of the entries after each one that opened or enlarged the same position. */
function newerThanEach(
  followed: readonly FollowedEntry[],
  keepers: Keepers,
): ReadonlyMap<FollowedEntry, Decimal> {
  const newer = new Map<FollowedEntry, Decimal>();
  const sums = new Map<string, Decimal>();
  for (const one of followed.toReversed()) {
    const place = `${one.market} ${one.signal.side}`;
    const sum = sums.get(place) ?? zero;
    newer.set(one, sum);
    if (!one.isSpot && !isMarkedReducing(one.signal)) sums.set(place, sum.plus(heldOf(one, keepers)));
  }
  return newer;
}

/** What an exit would still close, in base units; zero where its amount is not known. */
export function unfilledOf({ amount, filled }: OrderExecution): Decimal {
  return amount === undefined ? zero : parseDecimal(amount).minus(filled);
}

/** When it ended, as just read. */
function filledAs({ own, entry: { updatedAtMs } }: FollowedEntry) {
  return { endedAtMs: own?.endedAtMs ?? null, updatedAtMs };
}

function uncoveredOf(position: Decimal, open: readonly Order[], market: string, side: Side): Decimal {
  const stops = open.filter((order) => order.market === market && isStopAgainst(side, order));
  if (stops.some(({ amount }) => amount.eq(zero))) return zero;
  const rest = stops.reduce((sum, { remaining }) => sum.minus(remaining), position);
  return maximum(rest, zero);
}

/**
 * Whether an order would stop out a position that the side opened. An order with a client order id of its own is an order
 * of a strategy, which may open the opposite position, unless it only reduces.
 */
export function isStopAgainst(side: Side, order: Order): boolean {
  return (
    order.side === oppositeOf(side) &&
    order.onSpot !== true &&
    stopsLoss(order) &&
    (isMarkedReducing(order) || (order.clientOrderId === '' && !opensOneSide(order)))
  );
}

/** In hedge mode an order that does not close its side opens it. */
function opensOneSide({ positionSide }: Order): boolean {
  return positionSide === 'LONG' || positionSide === 'SHORT';
}
