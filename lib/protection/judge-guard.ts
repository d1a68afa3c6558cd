import { type Decimal, floorToStep, zero } from '../base/decimal.ts';
import type { Market } from '../model/market.ts';
import type { Guard } from './guards.ts';
import type { StandingExit } from './known-exits.ts';

/** What must be done so that a part of a position has the protection that it should have. */
export type GuardVerdict =
  /** Nothing: it fits, or nobody can say now, or the owner has decided otherwise. */
  | { readonly kind: 'fits'; readonly why: string }
  /** Nothing is left to protect: what stands is cancelled. */
  | { readonly kind: 'cancel'; readonly cancels: readonly number[] }
  /** An order is placed, and what it takes the place of is cancelled. */
  | {
      readonly kind: 'place';
      /** In base units. */
      readonly amount: Decimal;
      readonly price: Decimal;
      readonly cancels: readonly number[];
    }
  /** A stop-loss was triggered and did not fill: its limit price was passed. */
  | { readonly kind: 'stuck'; readonly amount: Decimal; readonly cancels: readonly number[] };

/** Compares what should protect a part of a position with what does. */
export function judgeGuard(
  guard: Guard,
  { amountStep, minAmount }: Pick<Market, 'amountStep' | 'minAmount'>,
): GuardVerdict {
  const { price, standing, doubt, isReleased } = guard;
  const ids = standing.map(({ orderId }) => orderId);
  const wanted = floorToStep(guard.amount, amountStep);
  if (doubt === 'shared') return fits('an order that no list shows may have sold what its part has lost');
  if (guard.amount.eq(zero)) {
    if (ids.length > 0) return { kind: 'cancel', cancels: ids };
    return fits(
      doubt === 'unlisted'
        ? 'no list shows its order, which may have ended'
        : 'nothing is left for it to protect: that is closed, or another alert protects it',
    );
  }
  if (doubt === 'unlisted') return fits('no list shows its order, which may have ended');
  if (doubt === 'awaited') return fits('the exchange may still list what it made of the entry');
  if (doubt === 'paired') return fits('the stop-loss that goes with it is replaced first');
  if (isReleased && ids.length === 0) return fits('it was ended by hand, and is not placed again');
  const besideHand = floorToStep(wanted.minus(guard.byHand), amountStep);
  const fitting = standing.find((exit) => isFitting(exit, guard, [wanted, besideHand]));
  if (fitting !== undefined && ids.length === 1) return fits('its order fits');
  if (areFittingParts(guard, [wanted, besideHand])) return fits('the orders of its parts fit');
  if (fitting !== undefined)
    return { kind: 'cancel', cancels: ids.filter((orderId) => orderId !== fitting.orderId) };
  if (wanted.lt(minAmount) || !wanted.gt(zero)) {
    const wrong = tooLargeForRest(guard, amountStep);
    return wrong.length > 0
      ? { kind: 'cancel', cancels: wrong }
      : fits('what is left is too little for an order of its own');
  }
  const triggered = standing.filter(({ isTriggered }) => isTriggered);
  if (triggered.length > 0) return { kind: 'stuck', amount: wanted, cancels: ids };
  if (price === null) return fits('its price is not known');
  const missing = ids.length === 0 ? besideHand : wanted;
  if (missing.lt(minAmount) || !missing.gt(zero))
    return fits('an order that is not of this relay protects it');
  return { kind: 'place', amount: missing, price, cancels: ids };
}

/**
 * The orders that are larger than what is left of their part, and must go although nothing can take their place: they could
 * turn the position, or take from what is beside it.
 *
 * @returns their ids
 */
export function largerThanRest(guard: Guard, amountStep: Decimal): readonly number[] {
  const larger = guard.standing.filter(({ remaining }) => remaining?.gt(guard.amount) === true);
  return tooLargeForRest({ ...guard, standing: larger }, amountStep);
}

/**
 * The orders that must go although what is left is too little for an order in their place. One that only reduces may stay,
 * unless it would take from what is beside it.
 *
 * @returns their ids
 */
function tooLargeForRest({ standing, amount, beside }: Guard, amountStep: Decimal): readonly number[] {
  const isAlone = beside.lt(amountStep);
  return standing
    .filter(({ onlyReduces, remaining }) => !onlyReduces || !(isAlone || remaining?.lte(amount)))
    .map(({ orderId }) => orderId);
}

/**
 * Whether a take-profit that is to be replaced would take a stop-loss with it that is still needed: the exchange has made both,
 * the successor of the stop-loss does not stand yet, and the exchange may refuse it.
 *
 * @param guards all of the position
 */
export function takesNeededStop(
  guard: Guard,
  guards: readonly Guard[],
  market: Pick<Market, 'amountStep' | 'minAmount'>,
): boolean {
  if (guard.role !== 'take_profit' || judgeGuard(guard, market).kind !== 'place') return false;
  // All that stands goes.
  const pairs = new Set(guard.standing.flatMap(({ pair = [] }) => pair));
  return guards.some(
    (other) =>
      other.role === 'stop_loss' &&
      other.standing.length > 0 &&
      other.standing.every(({ orderId }) => pairs.has(orderId)) &&
      judgeGuard(other, market).kind === 'place',
  );
}

function fits(why: string): GuardVerdict {
  return { kind: 'fits', why };
}

/** Whether several orders that the exchange made of one order, each for a part, are together what should stand. */
function areFittingParts(guard: Guard, sizes: readonly Decimal[]): boolean {
  const { standing, amount } = guard;
  const areParts = standing.every((exit) => exit.isPart === true && isInPlace(exit, guard));
  if (standing.length === 0 || !areParts) return false;
  const sum = standing.reduce((all, { remaining }) => all.plus(remaining ?? amount), zero);
  return [amount, ...sizes].some((size) => sum.eq(size));
}

/**
 * An order of the right size that waits, at its price. An order for the whole position fits any size.
 *
 * @param sizes what may be left to protect, rounded
 */
function isFitting(exit: StandingExit, guard: Guard, sizes: readonly Decimal[]): boolean {
  const { remaining, exact } = exit;
  if (!isInPlace(exit, guard)) return false;
  if (remaining === null || exact?.eq(guard.amount) === true) return true;
  return [guard.amount, ...sizes].some((size) => remaining.eq(size));
}

/** Whether an order waits at its price, and is to stay. */
function isInPlace(
  { price, isTriggered, isLeaving }: StandingExit,
  { leeway, price: wantedPrice }: Guard,
): boolean {
  if (isTriggered || isLeaving) return false;
  return leeway === null || wantedPrice === null || price?.minus(wantedPrice).abs().gt(leeway) !== true;
}
