import { exitsOf, mayBeExit } from '../account/exits.ts';
import { type Decimal, maximum, minimum, sumOf, zero } from '../base/decimal.ts';
import type { OrderRecord } from '../ledger/order-record.ts';
import { closingSideOf } from '../model/holdings.ts';
import { type Order, stopsLoss } from '../model/order.ts';
import { type ExitRole, exitRoles } from '../model/signal.ts';
import { type GuardedPosition, isOfSide } from './shares.ts';

/** A stop that the relay neither placed nor knows as an exit of its orders: by hand, or of another program. */
export interface OtherStop {
  readonly orderId: number;
  /** In base units; null: the whole position. */
  readonly amount: Decimal | null;
  /** The signal of an order that asked for a stop-loss at its price, and has none yet: it is for that order alone. */
  readonly of: string | null;
}

/** A stop-loss or take-profit that the list of positions shows beside a position, and no list of orders. */
export interface AttachedExit {
  readonly role: ExitRole;
  readonly orderId: number;
  /** The signal of an order that asked for one at its price, and has none yet: it is for what that order filled. Null: none did. */
  readonly of: string | null;
}

/** What should protect a part of a position, as far as stops of others are shared by it. */
interface Sharer {
  readonly of: string;
  readonly role: ExitRole;
  /** Of the part, in base units. */
  readonly amount: Decimal;
  readonly standing: readonly { readonly remaining: Decimal | null }[];
}

type SeenPosition = Pick<GuardedPosition, 'market' | 'amount' | 'tpsl' | 'openedAtMs'>;

/** The stops of others that would stop out a position: those of its market, and what is attached to it, for all of it if it is of no order. */
export function findOtherStops(
  position: GuardedPosition,
  records: readonly OrderRecord[],
  open: readonly Order[],
  attached: readonly AttachedExit[],
): readonly OtherStop[] {
  const own = knownIds(records);
  const listed = open
    .filter((order) => isStopOf(position, order) && !own.has(order.orderId) && !own.has(order.clientOrderId))
    .map(({ orderId, amount, remaining }) => ({
      orderId,
      amount: amount.eq(zero) ? null : remaining,
      of: null,
    }));
  const stops = attached.filter(({ role }) => role === 'stop_loss');
  return [...listed, ...stops.map(({ orderId, of }) => ({ orderId, amount: null, of }))];
}

/**
 * What the list of positions shows beside a position, without what is listed or known as an order; and what it has shown before
 * of its orders: it shows that of one order at a time.
 */
export function attachedExits(
  { market, amount, tpsl, openedAtMs }: SeenPosition,
  records: readonly OrderRecord[],
  open: readonly Order[],
): readonly AttachedExit[] {
  const before = records.flatMap(({ signalId: of, ...record }) => {
    const isOfPosition =
      record.market === market && record.side !== null && record.side !== closingSideOf(amount);
    if (!isOfPosition || record.attached === null) return [];
    const exits = record.attached.exits.filter((exit) => isSameTime(exit.openedAtMs, openedAtMs));
    return exits.map(({ role, orderId }) => ({ role, orderId, of }));
  });
  if (tpsl == null && before.length === 0) return [];
  const known = knownIds(records);
  const isHidden = ({ orderId }: Pick<AttachedExit, 'orderId'>) =>
    !known.has(orderId) && !open.some((order) => order.orderId === orderId);
  const shown = exitRoles.flatMap((role) => {
    const isStop = role === 'stop_loss';
    const orderId = (isStop ? tpsl?.stopLossId : tpsl?.takeProfitId) ?? null;
    if (orderId === null || before.some((exit) => exit.orderId === orderId)) return [];
    const price = (isStop ? tpsl?.stopLoss : tpsl?.takeProfit) ?? zero;
    const order = { orderId, clientOrderId: '', market, side: closingSideOf(amount), amount: zero, price };
    const listed = isStop ? { ...order, activationPrice: price } : order;
    const makers = records.filter((record) => {
      const exits = record.status === 'placed' ? exitsOf(record) : null;
      return exits?.awaited.some((wanted) => wanted.role === role && mayBeExit(exits, wanted, listed));
    });
    const has = ({ signalId }: OrderRecord) =>
      before.some((exit) => exit.of === signalId && exit.role === role);
    // The list shows what was made last.
    const lastFirst = makers.toSorted((one, other) => lastKnownMs(other) - lastKnownMs(one));
    const maker = lastFirst.find((record) => !has(record)) ?? lastFirst[0];
    return { role, orderId, of: maker?.signalId ?? null };
  });
  return [...before, ...shown].filter(isHidden);
}

/** When an order ended, or was created, on the exchange's clock as far as anything said it. */
function lastKnownMs({ endedAtMs, reported, sentAtMs }: OrderRecord): number {
  return endedAtMs ?? reported?.createdAtMs ?? sentAtMs ?? 0;
}

/** Whether a position may be the one of that time. A time that the exchange does not tell proves no other one. */
export function isSameTime(openedAtMs: number | null, other: number | null): boolean {
  return openedAtMs === null || other === null || openedAtMs === other;
}

/** Of every order that the ledger knows, and of the exits that were made of them. */
export function knownIds(records: readonly OrderRecord[]): ReadonlySet<number | string | null | undefined> {
  return new Set(
    records.flatMap(({ orderId, clientOrderId, exits }) => [
      orderId,
      clientOrderId,
      ...exits.map(({ order }) => order?.orderId),
    ]),
  );
}

/** An order of the spot account stops out no position, and one of a position no coins. */
function isStopOf(position: GuardedPosition, order: Order): boolean {
  const side = closingSideOf(position.amount);
  const isOfAccount = position.isSpot === true ? order.positionSide === undefined : order.onSpot !== true;
  return (
    isOfAccount &&
    order.side === side &&
    isOfSide(position, order) &&
    order.activated !== true &&
    stopsLoss(order)
  );
}

/** How much of a position stops of others protect, in base units. */
export function sumOfStops(
  stops: readonly OtherStop[],
  guards: readonly Sharer[],
  { amount: held, balance }: Pick<GuardedPosition, 'amount' | 'balance'>,
): Decimal {
  const whole = held.abs();
  const sum = sumOf(stops.map(({ amount, of }) => amount ?? (of === null ? whole : amountOf(guards, of))));
  if (balance === undefined) return sum;
  const ofBuys = sumOf(guards.flatMap(({ role, amount }) => (role === 'stop_loss' ? amount : [])));
  return leftForBuys(sum, ofBuys, minimum(balance, whole.plus(sum)));
}

/**
 * What stops of others protect of spot buys, in base units. They hold what is held beside the buys first: that belongs to no buy.
 *
 * @param stops what they hold together
 * @param ofBuys what the buys of this relay have left
 * @param balance what is held, without what orders hold that are no stops: no stop can hold that, too
 */
export function leftForBuys(stops: Decimal, ofBuys: Decimal, balance: Decimal): Decimal {
  const besides = maximum(balance.minus(ofBuys), zero);
  return maximum(stops.minus(besides), zero);
}

function amountOf(guards: readonly Sharer[], signalId: string): Decimal {
  return guards.find(({ of, role }) => of === signalId && role === 'stop_loss')?.amount ?? zero;
}

/**
 * Shares what stops of others protect among the guards: each part of a position needs it once. A guard whose own orders
 * are as large as its part needs none of it. What is attached for an order protects all of its part.
 */
export function shareOtherStops<Guard extends Sharer>(
  guards: readonly Guard[],
  { stops, attached }: { readonly stops: readonly OtherStop[]; readonly attached: readonly AttachedExit[] },
  position: Pick<GuardedPosition, 'amount' | 'balance'>,
): readonly (Guard & { readonly byHand: Decimal })[] {
  const general = stops.filter(({ of }) => of === null);
  let rest = sumOfStops(general, guards, position);
  return guards.map((guard) => {
    const isAttached = attached.some(({ of, role }) => of === guard.of && role === guard.role);
    if (isAttached) return { ...guard, byHand: guard.amount };
    if (guard.role !== 'stop_loss') return { ...guard, byHand: zero };
    const own = guard.standing.reduce((sum, { remaining }) => sum.plus(remaining ?? guard.amount), zero);
    const missing = guard.amount.minus(own);
    const byHand = missing.gt(zero) ? minimum(missing, rest) : zero;
    rest = rest.minus(byHand);
    return { ...guard, byHand };
  });
}
