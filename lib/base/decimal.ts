import BigJs, { type Big } from 'big.js';

/**
 * An exact decimal number. All amounts, prices and rates are decimals throughout the relay. None is ever made
 * from a JavaScript number (strict mode throws).
 *
 * Serialises to JSON as plain text: `0.0000001`, never `1e-7`.
 *
 * @see DECISIONS 3
 */
export type Decimal = Big;

const Exact = BigJs();
Exact.strict = true;
// Quotients have 40 decimal places and are truncated, so that an order sized by its cost never exceeds that
// cost.
Exact.DP = 40;
Exact.RM = 0;
Exact.NE = -1000;
Exact.PE = 1000;

/** A decimal in plain or exponent notation: `-1`, `0.5`, `.5`, `1e-7`, `2.5E+3`. */
const decimalPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const maximumTextLength = 64;
const maximumExponent = 40;

/** Whether {@link parseDecimal} accepts the text. */
export function isDecimalText(text: string): boolean {
  return decimalOrUndefined(text) !== undefined;
}

/** What {@link parseDecimal} returns; undefined where it throws. */
export function decimalOrUndefined(text: string): Decimal | undefined {
  if (text.length > maximumTextLength || !decimalPattern.test(text)) return undefined;
  const value = new Exact(text.startsWith('+') ? text.slice(1) : text);
  // In plain notation, a huge exponent would become megabytes of zeros.
  return Math.abs(value.e) > maximumExponent ? undefined : value;
}

/**
 * Reads a decimal exactly.
 *
 * @param text plain or exponent notation, at most 64 characters; a magnitude from 1e-40 to below 1e41
 * @throws RangeError when the text is no such number
 */
export function parseDecimal(text: string): Decimal {
  const value = decimalOrUndefined(text);
  if (value === undefined)
    throw new RangeError(`"${text.slice(0, maximumTextLength)}" is not a decimal number`);
  return value;
}

export const zero: Decimal = new Exact('0');
export const one: Decimal = new Exact('1');
export const hundred: Decimal = new Exact('100');

/** Plain notation, without an exponent and without trailing zeros. */
export function formatDecimal(value: Decimal): string {
  return value.toFixed();
}

/** A rate as a percentage: 0.001 is `0.1%`. */
export function formatPercent(rate: Decimal): string {
  return `${formatDecimal(rate.times(hundred))}%`;
}

/**
 * The rate of a percentage: `0.1%` is 0.001.
 *
 * @throws RangeError when the text is not a decimal number and a per cent sign
 */
export function rateOfPercent(text: string): Decimal {
  if (!text.endsWith('%')) throw new RangeError(`"${text.slice(0, maximumTextLength)}" is not a per cent`);
  return parseDecimal(text.slice(0, -1)).div(hundred);
}

/**
 * The multiple of the step at or below the value. It is computed from the remainder, which is exact; a
 * truncated quotient could give the wrong multiple.
 *
 * @param step positive, for example 0.001
 * @throws RangeError when the step is not positive
 */
export function floorToStep(value: Decimal, step: Decimal): Decimal {
  if (isMultipleOfPower(value, step)) return value;
  if (step.lte(zero)) throw new RangeError(`a step must be positive, not ${formatDecimal(step)}`);
  const rest = value.mod(step);
  return value.minus(rest.lt(zero) ? rest.plus(step) : rest);
}

/**
 * Whether the step is a power of ten and the value has no digit below it. Almost every price and amount of an alert is
 * such a multiple, as far as its digits show; a division takes thirty times as long.
 */
function isMultipleOfPower(value: Decimal, step: Decimal): boolean {
  const isPower = step.s === 1 && step.c.length === 1 && step.c[0] === 1;
  return isPower && value.e - (value.c.length - 1) >= step.e;
}

/** The next multiple of the step at or above the value. */
export function ceilToStep(value: Decimal, step: Decimal): Decimal {
  return floorToStep(value.neg(), step).neg();
}

/** `10^-places`: the step of a market that states its precision as a number of decimal places. */
export function stepOfPlaces(places: number): Decimal {
  return new Exact(`1e-${places}`);
}

/** The number of decimal places of the value in plain notation. */
export function decimalPlaces(value: Decimal): number {
  return Math.max(0, value.c.length - 1 - value.e);
}

export function minimum(a: Decimal, b: Decimal): Decimal {
  return a.lt(b) ? a : b;
}

export function maximum(a: Decimal, b: Decimal): Decimal {
  return a.lt(b) ? b : a;
}

/** Zero when there are none. */
export function sumOf(values: Iterable<Decimal>): Decimal {
  let sum = zero;
  for (const value of values) sum = sum.plus(value);
  return sum;
}
