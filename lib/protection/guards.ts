import { exitsOf, mayBeExit } from '../account/exits.ts';
import { assumedAnswers } from '../account/rehearsed.ts';
import { type Decimal, maximum, sumOf, zero } from '../base/decimal.ts';
import { replacedIn } from '../ledger/cancel-reports.ts';
import type { Entry } from '../ledger/entry.ts';
import { filledBy, listRecords, type OrderRecord } from '../ledger/order-record.ts';
import { fillsAtAnyPrice, type StopKind } from '../model/account.ts';
import { mayStillBeOpen } from '../model/execution.ts';
import { exitPriceOf, hasOtherTrigger, isMarkedReducing, type Order } from '../model/order.ts';
import { exitRoles } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import { isStopLimit } from '../orders/order-kinds.ts';
import { doubtShared } from './doubt-shared.ts';
import { hiddenExit, leavingExit, mustBeListed } from './hidden-exits.ts';
import { type GuardExit, keptExit, knownExits, type OwnExit, type StandingExit } from './known-exits.ts';
import { asListed, leftOf } from './left-of.ts';
import {
  type AttachedExit,
  attachedExits,
  findOtherStops,
  knownIds,
  shareOtherStops,
  sumOfStops,
} from './other-stops.ts';
import type { GuardedPosition } from './shares.ts';
import { isSpotStop } from './spot-lots.ts';
import { stoppedBy } from './stop-sales.ts';
import { type WantedGuard, wantedGuards } from './wanted.ts';
import type { ProtectionSight } from './wishes.ts';

/** What should protect a part of a position, beside what does. */
export interface Guard extends WantedGuard {
  /** What stands at the exchange for it. */
  readonly standing: readonly StandingExit[];
  /**
   * Why nothing can be said of what stands; null: all is known. `unlisted`: an order counts as open, and no list shows it.
   * `awaited`: the exchange may have made one that no list shows yet. `paired`: what is to go would take a stop-loss with it
   * that is still needed. `shared`: an unlisted order of another part may have sold what this one seems to have lost.
   */
  readonly doubt: 'unlisted' | 'awaited' | 'paired' | 'shared' | null;
  /** Whether the owner has ended it by hand, so that it is not placed again. */
  readonly isReleased: boolean;
  /** Present if the owner has ended a part of it by hand: the amount is without that. */
  readonly isCut?: true;
  /** What else there is of the position, in base units: an order that is too large would take from that. */
  readonly beside: Decimal;
  /** How much of its part stops of others protect, in base units. */
  readonly byHand: Decimal;
}

/** A guard before it is known what stops of others protect of it. */
type BareGuard = Omit<Guard, 'byHand'>;

/** Whether there is nothing of what the exchange should have made of an order: then it matters how long that may take. */
export function lacksExits({ record, part, amount, standing }: Guard): boolean {
  return record !== null && part === undefined && amount.gt(zero) && standing.length === 0;
}

/** What guards are judged by, in one market. */
export interface GuardView {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  readonly open: readonly Order[];
  /** When the open orders were read. */
  readonly nowMs: number;
  /** What alerts asked for the whole position, oldest first. */
  readonly wishes: readonly PositionWish[];
  readonly sight: ProtectionSight;
  /** The ids of exits that the relay has cancelled itself, or meant to; absent: the entries tell it. */
  readonly taken?: ReadonlySet<number>;
  /** What orders that no list shows were found to have sold, by their ids, in base units; absent: none was looked up. */
  readonly sold?: ReadonlyMap<number, Decimal>;
  /** How the account wants its stop-losses; absent: as they are. */
  readonly stopKind?: StopKind | undefined;
  /** How long after its last change an order may still get exits, in ms; absent: as long as nothing was rehearsed. */
  readonly exitsListedAfterMs?: number;
}

/** The guards of a position, and how much of it stops of others protect. */
export interface PositionGuards {
  readonly guards: readonly Guard[];
  /** In base units: of stops by hand, or of another program. */
  readonly byHand: Decimal;
}

/** What should protect each part of a position that this relay opened, beside what does. */
export function guardPosition(position: GuardedPosition, view: GuardView): PositionGuards {
  const records = asListed(listRecords(view.entries), view.open, view.sold);
  const own = cancelledBySelf(view);
  const attached = attachedExits(position, records, view.open).filter(
    ({ orderId }) => !own.isConfirmed(orderId),
  );
  const known = { records, own, view, whole: position.amount.abs(), attached };
  const wanted = wantedGuards(position, { ...view, records }).map((one) => besideStanding(one, known));
  const guards = doubtShared(withSuccessors(wanted.map((guard) => withPair(guard, wanted))), known.whole);
  // One that is replaced counts as what stands.
  const standing = new Set(guards.flatMap((guard) => guard.standing.map(({ orderId }) => orderId)));
  const others = attached.filter(({ orderId }) => !standing.has(orderId));
  const stops = findOtherStops(position, records, view.open, others);
  return {
    guards: shareOtherStops(guards, { stops, attached: others }, position),
    byHand: sumOfStops(stops, guards, position),
  };
}

/** The exits that the relay itself has cancelled. */
interface OwnCancels {
  /** That the exchange has said so. */
  isConfirmed(orderId: number): boolean;
  /** That nobody else need have cancelled it. */
  mayBeOwn(orderId: number): boolean;
  /** That it has ended: the exchange has said so, or no list shows one that the relay meant to cancel. */
  hasEnded(orderId: number): boolean;
}

function cancelledBySelf({
  entries,
  open,
  taken = new Set(),
}: Pick<GuardView, 'entries' | 'open' | 'taken'>): OwnCancels {
  const confirmed = replacedIn(entries);
  // The relay may have been killed, or found no list, before it could cancel what it meant to.
  return {
    isConfirmed: (id) => confirmed.has(id),
    mayBeOwn: (id) => confirmed.has(id) || taken.has(id),
    hasEnded: (id) => confirmed.has(id) || (taken.has(id) && !open.some(({ orderId }) => orderId === id)),
  };
}

/** A stop-loss that this relay has placed on spot, and that holds a part of the balance. */
export interface HoldingStop {
  /** The signal whose part of the balance it protects. */
  readonly of: string;
  readonly orderId: number;
  readonly clientOrderId: string | null;
  /** In base units. */
  readonly amount: Decimal;
  /** What it had sold by then, in base units. */
  readonly sold: Decimal;
}

type SpotView = Pick<GuardView, 'entries' | 'open' | 'taken'>;

/** What the relay's own stop-losses hold of the spot balance of a market. */
export function holdingStops(view: SpotView): readonly HoldingStop[] {
  const own = cancelledBySelf(view);
  return listRecords(view.entries).flatMap((record) => {
    const { protects } = record;
    const kept = isSpotStop(record) ? keptExit(record) : null;
    if (protects === null || kept === null || !mayStillBeOpen(kept.state) || own.hasEnded(kept.orderId))
      return [];
    return holdingOf(record, protects.of, view.open, kept.fresh?.remaining) ?? [];
  });
}

/**
 * What a stop-loss for that signal holds.
 *
 * @param unlisted what it holds if no list need show it yet, in base units
 * @returns null when nothing tells it
 */
export function holdingOf(
  record: OrderRecord,
  of: string,
  open: readonly Order[],
  unlisted: Decimal | null = null,
): HoldingStop | null {
  const { orderId, clientOrderId } = record;
  const listed = open.find((order) => order.orderId === orderId);
  // The follower may have seen more of its fills than the list shows yet.
  const sold = maximum(filledBy(record), listed?.amount.minus(listed.remaining) ?? zero);
  const amount = listed?.amount.minus(sold) ?? unlisted;
  return orderId === null || amount === null ? null : { of, orderId, clientOrderId, amount, sold };
}

interface Known {
  readonly records: readonly OrderRecord[];
  readonly own: OwnCancels;
  readonly view: GuardView;
  /** The position, in base units. */
  readonly whole: Decimal;
  /** What only the list of positions shows. */
  readonly attached: readonly AttachedExit[];
}

function besideStanding(asked: WantedGuard, { records, own, view, whole, attached }: Known): BareGuard {
  const known = knownExits(asked, records);
  const ended = known.filter(({ isCancelled, orderId }) => isCancelled && !own.mayBeOwn(orderId));
  const left = leftByOwner(asked, ended, records);
  const isCut = left?.gt(zero) === true && left.lt(asked.amount);
  const wanted = isCut ? { ...asked, amount: left, isCut } : asked;
  const live = known.filter(({ state, orderId }) => mayStillBeOpen(state) && !own.hasEnded(orderId));
  const mustShow = mustBeListed(wanted, view.nowMs, own.isConfirmed);
  const standing = live.flatMap(({ orderId, fresh, ...exit }) => {
    const listed = view.open.find((order) => order.orderId === orderId);
    if (listed === undefined) return fresh ?? (mustShow ? hiddenExit(orderId, wanted) : []);
    return {
      ...describeListed(listed, exit),
      isLeaving: mayMissItsPrice(listed, view) || waitsForGain(listed, wanted),
    };
  });
  const newest = known.toSorted((one, other) => one.orderId - other.orderId).at(-1);
  // Of what the exchange made with each fill the owner may have ended any: they stand beside each other.
  const last = known.filter((exit) => exit === newest || (newest?.isPart === true && exit.isPart));
  const sum = standing.reduce((all, { remaining }) => all.plus(remaining ?? wanted.amount), zero);
  // Of an order that fills in parts the exchange may make exits with each of them.
  const areParts = live.length > 0 && live.every(({ isPart }) => isPart) && sum.lt(wanted.amount);
  const isAwaitedFirst = (known.length === 0 || areParts) && isAwaited(wanted, records, view);
  const unlisted = attached.filter(({ of, role }) => of === wanted.of && role === wanted.role);
  // The owner has asked for a stop-loss since, and the relay has cancelled that one for a sale.
  const isRenewed = records.some(
    (record) =>
      !isSpotStop(record) &&
      stoppedBy(record, records) === wanted.of &&
      (record.orderId ?? 0) > (newest?.orderId ?? 0) &&
      own.mayBeOwn(record.orderId ?? 0),
  );
  const leaving = mustShow ? unlisted : [];
  return {
    ...wanted,
    // Nothing would show what is attached to a position any more once that is gone: one of the relay's own takes its place.
    standing: [...standing, ...leaving.map((exit) => leavingExit(exit, wanted, attached))],
    doubt: standing.length < live.length ? 'unlisted' : isAwaitedFirst ? 'awaited' : null,
    isReleased: !isRenewed && (last.some((exit) => ended.includes(exit)) || left?.lte(zero) === true),
    beside: whole.minus(wanted.amount),
  };
}

/**
 * How much of an order the owner has left protected, in base units. Of what the exchange made with each fill he may have ended
 * some; what those were for is not protected again, also when one order takes the place of the others.
 *
 * @param ended what the owner has ended by hand
 * @returns null when he has ended none of a fill
 */
function leftByOwner(
  { record }: WantedGuard,
  ended: readonly GuardExit[],
  records: readonly OrderRecord[],
): Decimal | null {
  const rest = sumOf(ended.flatMap((exit) => exit.rest ?? []));
  return record === null || rest.eq(zero) ? null : leftOf(record, records).minus(rest);
}

/**
 * The exchange cancels both exits that it made of an order when one of them is cancelled. Where its take-profit is not
 * wanted any more, its stop-loss is therefore replaced first.
 */
function withPair(guard: BareGuard, guards: readonly BareGuard[]): BareGuard {
  if (guard.role === 'take_profit' || guard.record === null || guard.amount.eq(zero)) return guard;
  const target = guards.find(({ of, role }) => of === guard.of && role === 'take_profit');
  const isLeaving = target?.amount.eq(zero) === true && target.standing.some(({ isMade }) => isMade);
  return isLeaving
    ? {
        ...guard,
        standing: guard.standing.map((exit) => ({ ...exit, isLeaving: exit.isLeaving || exit.isMade })),
      }
    : guard;
}

/**
 * Hands what is too much to the guard that takes its place, where an alert about the whole position has asked for one: so
 * the new stop-loss stands before the old one goes, and two take-profits never stand for one part.
 */
function withSuccessors(guards: readonly BareGuard[]): readonly BareGuard[] {
  const successors = exitRoles.flatMap(
    (role) => guards.find((guard) => guard.role === role && succeeds(guard)) ?? [],
  );
  const givers = guards.filter(
    ({ role, amount, standing }) =>
      amount.eq(zero) && standing.length > 0 && successors.some((successor) => successor.role === role),
  );
  const replacesStop = successors.some(({ role }) => role === 'stop_loss');
  return guards.map((guard) => {
    if (givers.includes(guard)) return { ...guard, standing: [] };
    if (!successors.includes(guard)) return guard;
    const given = givers.filter(({ role }) => role === guard.role);
    const isPaired =
      guard.role === 'take_profit' && given.some((giver) => holdsStop(giver, guards, replacesStop));
    return {
      ...guard,
      standing: [
        ...guard.standing,
        ...given.flatMap(({ standing }) => standing.map((exit) => ({ ...exit, isLeaving: true }))),
      ],
      doubt: isPaired ? 'paired' : guard.doubt,
    };
  });
}

/** Whether a guard is of the whole position, and is or will be an order. */
function succeeds({ record, amount, isReleased, standing }: BareGuard): boolean {
  return record === null && amount.gt(zero) && !(isReleased && standing.length === 0);
}

/** Whether the stop-loss of an order that is still needed goes with its take-profit: the exchange has made both. */
function holdsStop(
  { of, standing }: BareGuard,
  guards: readonly BareGuard[],
  replacesStop: boolean,
): boolean {
  if (!standing.some(({ isMade }) => isMade)) return false;
  return guards.some(
    (stop) =>
      stop.of === of &&
      stop.role === 'stop_loss' &&
      stop.standing.some(({ isMade }) => isMade) &&
      (replacesStop || stop.amount.gt(zero)),
  );
}

/**
 * Whether it is a stop-limit order in an account that wants its stop-losses to fill at any price. Its price does not tell: the
 * exchange may show a limit of its own for an order at market, which would be replaced again and again.
 */
function mayMissItsPrice({ type }: Order, { stopKind = 'limit' }: GuardView): boolean {
  return fillsAtAnyPrice[stopKind] && isStopLimit(type);
}

/** Whether a stop-loss waits for the price to move in favour: the price had passed it by the time it reached the exchange. */
function waitsForGain(order: Order, { role }: WantedGuard): boolean {
  return role === 'stop_loss' && hasOtherTrigger(order);
}

/** The exchange rounds prices and amounts: what the relay itself asked for is compared with what should stand. */
function describeListed(
  order: Order,
  { isMade, isPart, askedPrice, exact, pair }: OwnExit,
): Omit<StandingExit, 'isLeaving'> {
  const { orderId, side, amount, remaining, reduceOnly, activationPrice, activated, positionSide } = order;
  return {
    orderId,
    remaining: amount.eq(zero) ? null : remaining,
    price: askedPrice ?? exitPriceOf(order),
    onlyReduces: isMarkedReducing({ side, positionSide, reduceOnly }),
    isTriggered: activationPrice !== undefined && activated === true,
    isMade,
    ...(exact === null ? {} : { exact: exact.minus(amount.minus(remaining)) }),
    ...(pair.length === 0 ? {} : { pair }),
    ...(isPart ? { isPart } : {}),
  };
}

/**
 * The exchange makes the exits of an order when that has filled, and lists them a little later. After a time that a rehearsal
 * has found out, or that is assumed, a list that shows none is taken to say that there is none.
 */
function isAwaited(
  { record, role, part }: WantedGuard,
  records: readonly OrderRecord[],
  view: GuardView,
): boolean {
  const { open, nowMs, exitsListedAfterMs = assumedAnswers.exitsListedAfterMs } = view;
  // Nobody but the relay places it.
  if (record === null || record.spot !== null || part !== undefined) return false;
  const exits = exitsOf(record);
  // What is known by its id, also to another entry, is no exit that is awaited.
  const ids = knownIds(records);
  const unknown = open.filter(({ orderId }) => !ids.has(orderId));
  if (exits?.awaited.some((wanted) => unknown.some((order) => mayBeExit(exits, wanted, order)))) return true;
  // Nobody has read since then whether it was made, and perhaps ended by hand.
  if (record.readAtMs === null) return true;
  // An order that keeps filling would never get its stop-loss, if each fill made the wait begin anew.
  const isMade = record.exits.some(({ order }) => order !== null);
  const isFilling = role === 'stop_loss' && mayStillBeOpen(record.state) && !isMade;
  const missingSinceMs = isFilling ? record.unprotectedSinceMs : null;
  // A negative age means that the clock was set back.
  return nowMs - (missingSinceMs ?? record.readAtMs) < exitsListedAfterMs;
}
