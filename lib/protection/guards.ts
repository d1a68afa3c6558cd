import { exitsOf, mayBeExit } from '../account/exits.ts';
import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { replacedIn } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { type FollowedStatus, isStillOpen } from '../model/execution.ts';
import { exitPriceOf, isMarkedReducing, type Order, type Side } from '../model/order.ts';
import type { OrderSignal } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import type { GuardedPosition } from './shares.ts';
import { type WantedGuard, wantedGuards } from './wanted.ts';
import type { ProtectionSight } from './wishes.ts';

/** What should protect a part of a position, beside what does. */
export interface Guard extends WantedGuard {
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
  /** The trigger price of a stop, or the limit price; null when only the response to its creation would tell it. */
  readonly price: Decimal | null;
  /** Whether it says itself that it only reduces. */
  readonly onlyReduces: boolean;
  /** A stop-loss that was triggered and rests in the book. */
  readonly isTriggered: boolean;
  /** Whether the exchange made it of an order. */
  readonly isMade: boolean;
  /** Whether it will be cancelled with the take-profit of its pair. */
  readonly isLeaving: boolean;
}

/** What guards are judged by, in one market. */
export interface GuardView {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  /** When the open orders were read. */
  readonly nowMs: number;
  readonly wish: PositionWish | null;
  readonly sight: ProtectionSight;
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
  const known = { records, replaced: replacedIn(view.entries), view };
  const guards = wantedGuards(position, { ...view, records }).map((wanted) => besideStanding(wanted, known));
  const closingSide = position.amount.gt(zero) ? 'sell' : 'buy';
  return {
    guards: guards.map((guard) => withPair(guard, guards)),
    byHand: stopsByHand(closingSide, records, view),
  };
}

interface Known {
  readonly records: readonly OrderRecord[];
  readonly replaced: ReadonlySet<number>;
  readonly view: GuardView;
}

function besideStanding(wanted: WantedGuard, { records, replaced, view }: Known): Guard {
  const known = knownExits(wanted, records);
  const live = known.filter(({ state, orderId }) => isOpen(state) && !replaced.has(orderId));
  const standing = live.flatMap(({ orderId, isMade, fresh }) => {
    const listed = view.open.find((order) => order.orderId === orderId);
    return listed === undefined ? (fresh ?? []) : { ...describeStanding(listed), isMade };
  });
  const newest = known.toSorted((one, other) => one.orderId - other.orderId).at(-1);
  const isAwaitedFirst = known.length === 0 && isAwaited(wanted, view);
  return {
    ...wanted,
    standing,
    doubt: standing.length < live.length ? 'unlisted' : isAwaitedFirst ? 'awaited' : null,
    isReleased: newest?.isCancelled === true && !replaced.has(newest.orderId),
  };
}

/**
 * The exchange cancels both exits that it made of an order when one of them is cancelled. Where its take-profit is not
 * wanted any more, its stop-loss is therefore replaced first.
 */
function withPair(guard: Guard, guards: readonly Guard[]): Guard {
  if (guard.role === 'take_profit' || guard.record === null || guard.amount.eq(zero)) return guard;
  const target = guards.find(({ of, role }) => of === guard.of && role === 'take_profit');
  const isLeaving = target?.amount.eq(zero) === true && target.standing.some(({ isMade }) => isMade);
  return isLeaving
    ? { ...guard, standing: guard.standing.map((exit) => ({ ...exit, isLeaving: exit.isMade })) }
    : guard;
}

/** An order that protects, or protected, a part of a position. */
interface KnownExit {
  readonly orderId: number;
  readonly isMade: boolean;
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
  { of, role, part, record }: WantedGuard,
  records: readonly OrderRecord[],
): readonly KnownExit[] {
  const exits = part === undefined ? (record?.exits ?? []) : [];
  const made = exits.flatMap((exit) => {
    if (exit.role !== role || exit.order === null) return [];
    const { orderId, status, endReason } = exit.order;
    const isCancelled = wasCancelled(status, endReason);
    return [{ orderId, isMade: true, state: status, isCancelled, fresh: null }];
  });
  const kept = records.filter(
    ({ protects, status }) =>
      status === 'placed' && protects?.of === of && protects.role === role && protects.part === part,
  );
  return [...made, ...kept.flatMap((one) => keptExit(one) ?? [])];
}

function keptExit(record: OrderRecord): KnownExit | null {
  const { orderId, state, followed, amount, asked } = record;
  if (orderId === null) return null;
  // Once it is followed, a list has shown it: one that none shows any more has ended.
  const isFresh = followed === null && amount !== null;
  const left = isFresh ? amount.minus(filledBy(record)) : zero;
  const price = asked === null ? null : priceIn(asked);
  return {
    orderId,
    isMade: false,
    state: record.orderOpen ? state : (state ?? 'cancelled'),
    isCancelled: followed !== null && wasCancelled(followed.status, followed.endReason),
    fresh: isFresh
      ? {
          orderId,
          remaining: left,
          price,
          onlyReduces: true,
          isTriggered: false,
          isMade: false,
          isLeaving: false,
        }
      : null,
  };
}

function priceIn(asked: OrderSignal): Decimal | null {
  if ('stopPrice' in asked) return parseDecimal(asked.stopPrice);
  return 'limitPrice' in asked ? decimalIn(asked.limitPrice) : null;
}

function wasCancelled(status: FollowedStatus, endReason: string | undefined): boolean {
  return status === 'gone' || (status === 'cancelled' && endReason === undefined);
}

function describeStanding(order: Order): StandingExit {
  const { orderId, side, amount, remaining, reduceOnly, activationPrice, activated, positionSide } = order;
  return {
    orderId,
    remaining: amount.eq(zero) ? null : remaining,
    price: exitPriceOf(order),
    onlyReduces: isMarkedReducing({ side, positionSide, reduceOnly }),
    isTriggered: activationPrice !== undefined && activated === true,
    isMade: false,
    isLeaving: false,
  };
}

/**
 * The exchange makes the exits of an order when that has filled, and lists them a little later. This long after the order
 * changed last, a list that shows none is taken to say that there is none.
 */
const exitsListedAfterMs = 20_000;

function isAwaited({ record, part }: WantedGuard, { open, nowMs }: GuardView): boolean {
  // Nobody but the relay places it.
  if (record === null || part !== undefined) return false;
  const exits = exitsOf(record);
  if (exits?.awaited.some((wanted) => open.some((order) => mayBeExit(exits, wanted, order)))) return true;
  // A negative age means that the clock was set back.
  return nowMs - (record.readAtMs ?? record.updatedAtMs) < exitsListedAfterMs;
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
