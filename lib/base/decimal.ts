import BigJs, { type Big } from 'big.js';

/**
 * An exact decimal number. Money, amounts, prices and rates are decimals from the first byte to the last;
 * a JavaScript number never enters one (strict mode throws).
 *
 * Serialises to JSON as plain text: `0.0000001`, never `1e-7`.
 */
export type Decimal = Big;

const Exact = BigJs();
Exact.strict = true;
// Quotients carry 40 places and are cut, never rounded up: a size that is bought with an amount must not exceed it.
Exact.DP = 40;
Exact.RM = 0;
Exact.NE = -1000;
Exact.PE = 1000;

/** A decimal in plain or exponent notation, as JSON and people write it: `-1`, `0.5`, `.5`, `1e-7`, `2.5E+3`. */
const decimalPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const maximumTextLength = 64;
const maximumExponent = 40;

/** Whether {@link parseDecimal} would take the text. */
export function isDecimalText(text: string): boolean {
  return decimalOrUndefined(text) !== undefined;
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

function decimalOrUndefined(text: string): Decimal | undefined {
  if (text.length > maximumTextLength || !decimalPattern.test(text)) return undefined;
  const value = new Exact(text.startsWith('+') ? text.slice(1) : text);
  // A huge exponent would turn into megabytes of zeros as soon as somebody prints it.
  return Math.abs(value.e) > maximumExponent ? undefined : value;
}

export const zero: Decimal = new Exact('0');
export const one: Decimal = new Exact('1');

/** Plain notation, without an exponent and without trailing zeros. */
export function formatDecimal(value: Decimal): string {
  return value.toFixed();
}

/** A rate as people write it: 0.001 is `0.1%`. */
export function formatPercent(rate: Decimal): string {
  return `${formatDecimal(rate.times(new Exact('100')))}%`;
}

/**
 * The multiple of the step at or below the value, exactly: by remainder, as a cut quotient could lie on the wrong side.
 *
 * @param step positive, for example 0.001
 * @throws RangeError when the step is not positive
 */
export function floorToStep(value: Decimal, step: Decimal): Decimal {
  if (step.lte(zero)) throw new RangeError(`a step must be positive, not ${formatDecimal(step)}`);
  const rest = value.mod(step);
  return value.minus(rest.lt(zero) ? rest.plus(step) : rest);
}

/** The next multiple of the step at or above the value. */
export function ceilToStep(value: Decimal, step: Decimal): Decimal {
  return floorToStep(value.neg(), step).neg();
}

/** `10^-places`: the step of a market that states its precision as a count of decimals. */
export function stepOfPlaces(places: number): Decimal {
  return new Exact(`1e-${places}`);
}

/** How many decimals the value needs in plain notation. */
export function decimalPlaces(value: Decimal): number {
  return Math.max(0, value.c.length - 1 - value.e);
}

export function minimum(a: Decimal, b: Decimal): Decimal {
  return a.lt(b) ? a : b;
}
