import { describeAmount, type SeenPosition, stateOfAmount } from '../../account/seen-position.ts';
import {
  type Decimal,
  floorToStep,
  formatDecimal,
  minimum,
  parseDecimal,
  rateOfPercent,
  zero,
} from '../../base/decimal.ts';
import { closingSideOf, openingSideOf } from '../../model/holdings.ts';
import type { Market } from '../../model/market.ts';
import type { Denial } from '../../model/outcome.ts';
import type { CloseSignal, OrderSize, ReverseSignal } from '../../model/signal.ts';
import type { PositionOrder } from '../../model/step-facts.ts';
import { nothingToTurn } from './reduce-leg.ts';

/** What one leg has to do about the position that was read. */
export type LegPlan =
  | { readonly kind: 'order'; readonly order: PositionOrder }
  | { readonly kind: 'satisfied'; readonly note: string }
  | { readonly kind: 'denied'; readonly denial: Denial };

type Steps = Pick<Market, 'name' | 'base' | 'amountStep' | 'minAmount'>;

/** Closes the position or a part of it. */
export function planClose(
  { part, unless, only, atMost }: Pick<CloseSignal, 'part' | 'unless' | 'only' | 'atMost'>,
  { amount, side }: SeenPosition,
  market: Steps,
): LegPlan {
  if (unless !== undefined && stateOfAmount(amount) === unless)
    return satisfied(`the position is ${describeAmount(amount)}, as the order after this presumes`);
  if (amount.eq(zero)) return satisfied(`${market.name} has no open position`);
  if (isDust(amount, market))
    return satisfied(`the position is ${describeAmount(amount)}, less than any order could close`);
  if (only !== undefined && stateOfAmount(amount) !== only)
    return satisfied(`the position is ${describeAmount(amount)}: there is no ${only} one to close`);
  const asked = part === undefined ? amount.abs() : amount.abs().times(rateOfPercent(part));
  const most = atMost === undefined ? asked : minimum(asked, parseDecimal(atMost));
  return reduceBy(most, { amount, side });
}

/** Closes the position that is to be turned. */
export function planReverseClose({ amount, side }: SeenPosition, market: Steps): LegPlan {
  const { name } = market;
  if (isDust(amount, market))
    return denied({
      rule: nothingToTurn,
      limit: 'an open position',
      actual: 'flat',
      message: `${name} has no open position that could be turned; write "buy" or "sell", or send the position that you want as "target"`,
    });
  return reduceBy(amount.abs(), { amount, side });
}

/**
 * Opens the position of the other side.
 *
 * @param closed the position before it was closed
 * @see DECISIONS 150
 */
export function planReverseOpen(
  { size }: Pick<ReverseSignal, 'size'>,
  seen: SeenPosition,
  closed: Decimal,
  market: Steps,
): LegPlan {
  if (!isDust(seen.amount, market)) return denied(denyNotFlat(seen.amount, 'flat', market.name));
  const opened: OrderSize = size ?? { unit: 'base', quantity: formatDecimal(closed.abs()) };
  return {
    kind: 'order',
    order: { side: closingSideOf(closed), size: opened, reduceOnly: false },
  };
}

/**
 * Reduces the position to a wanted one, rounded down to the step, or closes it when the wanted one is of the other side.
 *
 * @param wanted in base units, signed, not rounded: otherwise a position that is one step larger than a wanted size between
 * two steps would lose that step
 */
export function planTargetReduce(wanted: Decimal, seen: SeenPosition, market: Steps): LegPlan {
  const { amount } = seen;
  const isOpposite = amount.times(wanted).lte(zero);
  const rounded = roundToStep(wanted, market);
  const excess = isOpposite ? amount.abs() : amount.abs().minus(wanted.abs());
  if (excess.lte(zero)) return satisfied(reachedNote(rounded, amount, 'nothing has to be reduced'));
  if (isBelowLeast(excess, market)) return satisfied(leastNote(wanted, amount, excess, market));
  return reduceBy(isOpposite ? excess : amount.abs().minus(rounded.abs()), seen);
}

/**
 * Opens or enlarges the position up to a wanted one.
 *
 * @param asked in base units, signed, never zero; it is rounded down to the step
 * @param hasReduced whether the leg before this one has placed an order
 */
export function planTargetOpen(
  asked: Decimal,
  { amount }: SeenPosition,
  hasReduced: boolean,
  market: Steps,
): LegPlan {
  const wanted = roundToStep(asked, market);
  const sign = amount.times(wanted);
  if (sign.lt(zero) && !isDust(amount, market))
    return denied(denyNotFlat(amount, `flat or ${stateOfAmount(wanted)}`, market.name));
  // Of a price that moved in between, the first leg would otherwise be undone in part.
  if (hasReduced && sign.gt(zero)) return satisfied(`the position was reduced to ${describeAmount(amount)}`);
  const missing = sign.lt(zero) ? wanted.abs() : wanted.abs().minus(amount.abs());
  if (missing.lte(zero)) return satisfied(reachedNote(wanted, amount, 'nothing has to be opened'));
  if (isBelowLeast(missing, market)) return satisfied(leastNote(wanted, amount, missing, market));
  const side = openingSideOf(wanted);
  const quantity = formatDecimal(floorToStep(missing, market.amountStep));
  return { kind: 'order', order: { side, size: { unit: 'base', quantity }, reduceOnly: false } };
}

/**
 * Denies the end of a target whose first leg has not reduced the position as far as it should: its order filled in part, or
 * not at all.
 *
 * @returns null when the position is as wanted
 */
export function checkReduced(wanted: Decimal, seen: SeenPosition, market: Steps): Denial | null {
  if (planTargetReduce(wanted, seen, market).kind !== 'order') return null;
  const actual = describeAmount(seen.amount);
  const limit = describeAmount(roundToStep(wanted, market));
  return {
    rule: 'position_not_reduced',
    limit,
    actual,
    message: `the position of ${market.name} was to be reduced to ${limit}, and is ${actual}: the order that reduced it did not fill in full`,
  };
}

function reduceBy(amount: Decimal, { amount: held, side }: SeenPosition): LegPlan {
  return {
    kind: 'order',
    order: {
      side: closingSideOf(held),
      size: { unit: 'base', quantity: formatDecimal(amount) },
      reduceOnly: true,
      ...(side === null ? {} : { positionSide: side }),
    },
  };
}

/** Whether it is nothing, or less than one step: no order can close that, and nothing has to wait for it. */
function isDust(amount: Decimal, { amountStep }: Steps): boolean {
  return floorToStep(amount.abs(), amountStep).eq(zero);
}

/** Toward zero: no position becomes larger than it is wanted. */
function roundToStep(signed: Decimal, { amountStep }: Steps): Decimal {
  const rounded = floorToStep(signed.abs(), amountStep);
  return signed.lt(zero) ? rounded.times('-1') : rounded;
}

function isBelowLeast(amount: Decimal, { amountStep, minAmount }: Steps): boolean {
  const rounded = floorToStep(amount, amountStep);
  return rounded.lte(zero) || rounded.lt(minAmount);
}

function satisfied(note: string): LegPlan {
  return { kind: 'satisfied', note };
}

function denied(denial: Denial): LegPlan {
  return { kind: 'denied', denial };
}

function reachedNote(wanted: Decimal, amount: Decimal, rest: string): string {
  return `the position is ${describeAmount(amount)}, and the alert wants ${describeAmount(wanted)}: ${rest}`;
}

function leastNote(wanted: Decimal, amount: Decimal, difference: Decimal, market: Steps): string {
  const { base, amountStep, minAmount } = market;
  // A quotient has forty digits.
  return `the position is ${describeAmount(amount)}, and the alert wants ${describeAmount(wanted.prec(12, 0))}: the difference of ${formatDecimal(difference.prec(8, 0))} ${base} is less than an order may have (steps of ${formatDecimal(amountStep)}, at least ${formatDecimal(minAmount)})`;
}

function denyNotFlat(amount: Decimal, limit: string, market: string): Denial {
  const actual = describeAmount(amount);
  return {
    rule: 'position_not_closed',
    limit,
    actual,
    message: `the position of ${market} must be ${limit} before another one is opened, and is ${actual}; nothing was opened`,
  };
}
