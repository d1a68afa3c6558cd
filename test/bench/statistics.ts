/** The middle of several measurements, and how far they lay apart. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** @throws RangeError when there is no value */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: percentileOf(sorted, 0.5),
    least: percentileOf(sorted, 0),
    most: percentileOf(sorted, 1),
  };
}

/**
 * The value below or at which the given share of all lie, by nearest rank: always one that was measured.
 *
 * @param share from 0 to 1
 * @throws RangeError when there is no value
 */
export function percentileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('nothing was measured, so there is no percentile');
  return value;
}

/** The median, and in brackets the least and the most. */
export function formatSpread({ median, least, most }: Spread, digits: number): string {
  return `${formatNumber(median, digits)} (${formatNumber(least, digits)}–${formatNumber(most, digits)})`;
}

export function formatRatio(ratio: number): string {
  return `${formatNumber(ratio, 2)}×`;
}

export function formatNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
