import { exitsOf, mayBeExit } from '../account/exits.ts';
import { type Decimal, hundred, parseDecimal, zero } from '../base/decimal.ts';
import { replacedIn } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { type FollowedStatus, isStillOpen } from '../model/execution.ts';
import { type Order, oppositeOf, type Side } from '../model/order.ts';
import type { ExitRole } from '../model/signal.ts';
import { filledBy, type GuardedPosition, type Share, shareOut } from './shares.ts';

/** What should protect the part of a position that an order opened, beside what does. */
export interface Guard {
  /** Of the order that opened the part. */
  readonly record: OrderRecord;
  readonly role: ExitRole;
  /** Of the orders that protect it. */
  readonly side: Side;
  /** The trigger price of a stop-loss, or the limit price of a take-profit; null when nobody knows it. */
  readonly price: Decimal | null;
  /** How much of the position it protects, in base units. */
  readonly amount: Decimal;
  /** What stands at the exchange for it. */
  readonly standing: readonly StandingExit[];
  /**
   * Why nothing can be said of what stands; null: all is known. `unlisted`: an order counts as open, and no list shows it.
   * `awaited`: the exchange may have made one that no list shows yet.
   */
  readonly doubt: 'unlisted' | 'awaited' | null;
  /** Whether the owner has ended it by hand, so that it is not placed again. */
  readonly isReleased: boolean;
}

/** An order that protects a part of a position. */
export interface StandingExit {
  readonly orderId: number;
  /** What it may still sell, in base units; null: the whole position. */
  readonly remaining: Decimal | null;
  /** Whether it says itself that it only reduces. */
  readonly onlyReduces: boolean;
  /** A stop-loss that was triggered and rests in the book. */
  readonly isTriggered: boolean;
}

/** What guards are judged by: the entries and the open orders of one market. */
export interface GuardView {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  /** When the open orders were read. */
  readonly nowMs: number;
}

/** The guards of a position, and how much of it stops of others protect. */
export interface PositionGuards {
  readonly guards: readonly Guard[];
  /** In base units: of stops by hand, or of another program. */
  readonly byHand: Decimal;
}

/** What should protect each part of a position that this relay opened, beside what does. */
export function guardPosition(position: GuardedPosition, view: GuardView): PositionGuards {
  const records = listRecords(view.entries);
  const replaced = replacedIn(view.entries);
  const guards = shareOut(records, position).flatMap((share) =>
    share.record.exits.map(({ role, price }) =>
      guardOf(share, role, price ?? priceFromDistance(share, role), { records, replaced, view }),
    ),
  );
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  return { guards, byHand: stopsByHand(closingSide, records, view) };
}

interface Known {
  readonly records: readonly OrderRecord[];
  readonly replaced: ReadonlySet<number>;
  readonly view: GuardView;
}

function guardOf(
  { record, side, amount }: Share,
  role: ExitRole,
  price: Decimal | null,
  { records, replaced, view }: Known,
): Guard {
  const known = knownExits(record, role, records);
  const live = known.filter(({ state, orderId }) => isOpen(state) && !replaced.has(orderId));
  const standing = live.flatMap(({ orderId, fresh }) => {
    const listed = view.open.find((order) => order.orderId === orderId);
    return listed === undefined ? (fresh ?? []) : describeStanding(listed, side);
  });
  const newest = known.toSorted((one, other) => one.orderId - other.orderId).at(-1);
  return {
    record,
    role,
    side: oppositeOf(side),
    price,
    amount,
    standing,
    doubt:
      standing.length < live.length
        ? 'unlisted'
        : known.length === 0 && isAwaited(record, view)
          ? 'awaited'
          : null,
    isReleased: newest?.isCancelled === true && !replaced.has(newest.orderId),
  };
}

/** An order that protects, or protected, a part of a position. */
interface KnownExit {
  readonly orderId: number;
  readonly state: FollowedStatus | null;
  /** It ended without having been filled, and the exchange gave no reason of its own. */
  readonly isCancelled: boolean;
  /** Of one that no list need show yet: as the response to its creation told it. */
  readonly fresh: StandingExit | null;
}

function isOpen(state: FollowedStatus | null): boolean {
  return state === null || isStillOpen(state);
}

/** What the exchange made of an order, and what this relay placed to protect it. */
function knownExits(
  { signalId, exits }: OrderRecord,
  role: ExitRole,
  records: readonly OrderRecord[],
): readonly KnownExit[] {
  const made = exits.flatMap((exit) => {
    if (exit.role !== role || exit.order === null) return [];
    const { orderId, status, endReason } = exit.order;
    return [{ orderId, state: status, isCancelled: wasCancelled(status, endReason), fresh: null }];
  });
  const kept = records.filter(
    ({ protects, status }) => status === 'placed' && protects?.of === signalId && protects.role === role,
  );
  return [...made, ...kept.flatMap((record) => keptExit(record) ?? [])];
}

function keptExit(record: OrderRecord): KnownExit | null {
  const { orderId, state, followed, amount } = record;
  if (orderId === null) return null;
  // Once it is followed, a list has shown it: one that none shows any more has ended.
  const isFresh = followed === null && amount !== null;
  const left = isFresh ? amount.minus(filledBy(record)) : zero;
  return {
    orderId,
    state: record.orderOpen ? state : (state ?? 'cancelled'),
    isCancelled: followed !== null && wasCancelled(followed.status, followed.endReason),
    fresh: isFresh ? { orderId, remaining: left, onlyReduces: true, isTriggered: false } : null,
  };
}

function wasCancelled(status: FollowedStatus, endReason: string | undefined): boolean {
  return status === 'gone' || (status === 'cancelled' && endReason === undefined);
}

function describeStanding(order: Order, entrySide: Side): StandingExit {
  const { orderId, amount, remaining, reduceOnly, activationPrice, activated, positionSide } = order;
  return {
    orderId,
    remaining: amount.eq(zero) ? null : remaining,
    onlyReduces: reduceOnly === true || positionSide === (entrySide === 'buy' ? 'LONG' : 'SHORT'),
    isTriggered: activationPrice !== undefined && activated === true,
  };
}

/**
 * The exchange makes the exits of an order when that has filled, and lists them a little later. This long after the order
 * changed last, a list that shows none is taken to say that there is none.
 */
const exitsListedAfterMs = 20_000;

function isAwaited(record: OrderRecord, { open, nowMs }: GuardView): boolean {
  const exits = exitsOf(record);
  if (exits?.awaited.some((wanted) => open.some((order) => mayBeExit(exits, wanted, order)))) return true;
  // A negative age means that the clock was set back.
  return nowMs - (record.readAtMs ?? record.updatedAtMs) < exitsListedAfterMs;
}

/** A distance counts from the average price of the fills when no response told the price. */
function priceFromDistance({ record: { asked, followed }, side }: Share, role: ExitRole): Decimal | null {
  const text = role === 'stop_loss' ? asked?.stopLoss : asked?.takeProfit;
  const filled = parseDecimal(followed?.filled ?? '0');
  if (text?.endsWith('%') !== true || followed === null || !filled.gt(zero)) return null;
  const average = parseDecimal(followed.filledNotional).div(filled);
  const distance = average.times(parseDecimal(text.slice(0, -1))).div(hundred);
  const isBelow = (role === 'stop_loss') === (side === 'buy');
  return isBelow ? average.minus(distance) : average.plus(distance);
}

/** The stops in the market that are not the relay's, and would stop out a position. */
function stopsByHand(side: Side, records: readonly OrderRecord[], { open }: GuardView): Decimal {
  const ids = records.flatMap(({ orderId, exits }) => [orderId, ...exits.map(({ order }) => order?.orderId)]);
  const own = new Set<number | string | null | undefined>([
    ...ids,
    ...records.map(({ clientOrderId }) => clientOrderId),
  ]);
  const condition = side === 'sell' ? 'lte' : 'gte';
  return open
    .filter(
      (order) =>
        order.side === side &&
        order.activationPrice !== undefined &&
        order.activated !== true &&
        (order.activationCondition ?? condition) === condition &&
        !own.has(order.orderId) &&
        !own.has(order.clientOrderId),
    )
    .reduce((sum, { remaining }) => sum.plus(remaining), zero);
}
