import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import type { FollowedStatus } from '../model/execution.ts';
import { hasOtherTrigger, isOrderEnd } from '../model/order.ts';
import { type ExitRole, exitRoles, type OrderSignal } from '../model/signal.ts';
import { isStopMarket, mustNotRest } from '../orders/order-kinds.ts';
import type { WantedGuard } from './wanted.ts';

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
  /** Present if it made it of a fill, and may have made others of other fills. */
  readonly isPart?: true;
  /** Present if no list of orders has ever shown it. */
  readonly isHidden?: true;
  /** Whether it goes: with the take-profit of its pair, or because another one, or one of another kind, takes its place. */
  readonly isLeaving: boolean;
  /** What it was to protect before that was rounded, without what it has sold, in base units; absent: not known. */
  readonly exact?: Decimal;
  /** The ids of the exits that the exchange cancels with it; absent: none. */
  readonly pair?: readonly number[];
}

/** An order that protects, or protected, a part of a position. */
export interface GuardExit extends OwnExit {
  readonly orderId: number;
  readonly state: FollowedStatus | null;
  /** It ended without having been filled, and the exchange gave no reason of its own. */
  readonly isCancelled: boolean;
  /** What it has not sold of the fill it was made for, in base units; null when nothing says it. */
  readonly rest: Decimal | null;
  /** Of one that no list need show yet: as the response to its creation told it. */
  readonly fresh: StandingExit | null;
}

/** What the relay itself knows of an exit. */
export interface OwnExit {
  readonly isMade: boolean;
  /** Whether it may be for a part of the order alone. */
  readonly isPart: boolean;
  /** The price that the relay asked for; null for one that the exchange made. */
  readonly askedPrice: Decimal | null;
  /** What it was to protect before that was rounded, in base units; null when nothing says it. */
  readonly exact: Decimal | null;
  readonly pair: readonly number[];
}

/** What the exchange made of an order, and what this relay placed to protect it, those that have ended included. */
export function knownExits(
  { of, role, part, record }: WantedGuard,
  records: readonly OrderRecord[],
): readonly GuardExit[] {
  const exits = part === undefined ? (record?.exits ?? []) : [];
  const made = exits.flatMap((exit): readonly GuardExit[] => {
    if (exit.role !== role || exit.order === null) return [];
    const { orderId, status, endReason, amount, filled } = exit.order;
    const pair = pairOf(exits, orderId);
    // Where the other one of its pair has filled, in part too, the exchange has ended it, and not the owner.
    const hasPairFilled = exits.some(
      ({ order }) =>
        order !== null &&
        order.orderId !== orderId &&
        pair.includes(order.orderId) &&
        parseDecimal(order.filled).gt(zero),
    );
    const isCancelled = wasCancelled(status, endReason) && !hasPairFilled;
    const own = { isMade: true, isPart: amount !== undefined, askedPrice: null, exact: null, pair };
    const rest = amount === undefined ? null : parseDecimal(amount).minus(parseDecimal(filled));
    return [{ ...own, orderId, state: status, isCancelled, rest, fresh: null }];
  });
  const kept = records.filter(
    ({ protects, status }) =>
      status === 'placed' && protects?.of === of && protects.role === role && protects.part === part,
  );
  return [...made, ...kept.flatMap((one) => keptExit(one) ?? [])];
}

/** The exits of one fill are made together, so that of each kind they come in the same order. */
function pairOf(exits: OrderRecord['exits'], orderId: number): readonly number[] {
  const idsOf = (role: ExitRole) =>
    exits.flatMap((exit) => (exit.role === role ? (exit.order?.orderId ?? []) : [])).sort((a, b) => a - b);
  const lists = exitRoles.map(idsOf);
  const place = Math.max(...lists.map((ids) => ids.indexOf(orderId)));
  return lists.flatMap((ids) => ids[place] ?? []);
}

export function keptExit(record: OrderRecord): GuardExit | null {
  const { orderId, state, followed, reported, amount, asked, exact, protects } = record;
  if (orderId === null) return null;
  // No list need show the end of one that took at once, and following may wait for minutes before it calls it gone.
  const hasEndedAtOnce = reported !== null && isOrderEnd(reported.status);
  // Once it is followed, a list has shown it: one that none shows any more has ended.
  const isFresh = followed === null && amount !== null;
  const left = isFresh ? amount.minus(filledBy(record)) : zero;
  const price = asked === null ? null : priceIn(asked);
  return {
    orderId,
    isMade: false,
    isPart: false,
    askedPrice: price,
    exact,
    pair: [],
    state: hasEndedAtOnce ? reported.status : record.orderOpen ? state : (state ?? 'cancelled'),
    isCancelled: followed !== null && mayRest(record) && wasCancelled(followed.status, followed.endReason),
    rest: null,
    fresh: isFresh
      ? {
          orderId,
          remaining: left,
          price,
          onlyReduces: true,
          isTriggered: false,
          isMade: false,
          isLeaving: protects?.role === 'stop_loss' && reported !== null && hasOtherTrigger(reported),
          ...(exact === null ? {} : { exact: exact.minus(filledBy(record)) }),
        }
      : null,
  };
}

/**
 * Whether what is left of it may stand, so that the owner can cancel it. What sells at market takes at once, and so does a
 * stop-market order that has begun to fill: the exchange itself ends what the book does not take, and gives no reason.
 */
function mayRest({ asked, followed }: OrderRecord): boolean {
  if (asked === null) return true;
  const hasFilled = parseDecimal(followed?.filled ?? '0').gt(zero);
  return !mustNotRest(asked) && !(isStopMarket(asked.orderType) && hasFilled);
}

function priceIn(asked: OrderSignal): Decimal | null {
  if ('stopPrice' in asked) return parseDecimal(asked.stopPrice);
  return 'limitPrice' in asked ? decimalIn(asked.limitPrice) : null;
}

function wasCancelled(status: FollowedStatus, endReason: string | undefined): boolean {
  return status === 'gone' || (status === 'cancelled' && endReason === undefined);
}
