/**
 * The middle of several measurements, and how sure it is: the true median lies between `low` and `high` with a
 * confidence of 95 % or more. So three runs of the benchmark agree when the medians lie within each other's bounds.
 */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The bounds are measured values themselves, counted from both ends, and need no assumption about how measurements
 * scatter. Of five values or fewer, they are the least and the most, and less sure than 95 %.
 *
 * @throws RangeError when there is no value
 * @see https://en.wikipedia.org/wiki/Median#Confidence_interval
 */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const left = countOutside(sorted.length);
  return {
    median: percentileOf(sorted, 0.5),
    low: sorted[left] as number,
    high: sorted[sorted.length - 1 - left] as number,
  };
}

const mostDoubt = 0.05;

/** How many values may be left out at each end: fewer than that lie beyond the true median by chance in 5 % of cases. */
function countOutside(count: number): number {
  let left = 0;
  // The probability that exactly `left` of the values lie below the true median, as in tosses of a coin.
  let probability = 0.5 ** count;
  let doubt = 2 * probability;
  while (true) {
    probability *= (count - left) / (left + 1);
    doubt += 2 * probability;
    if (doubt > mostDoubt) return left;
    left += 1;
  }
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

/**
 * The ratios of two series that were measured in turns, round by round. What a busy machine does to a whole round falls
 * out of its ratio, so ratios lie closer together than the figures that they are made of.
 *
 * @throws RangeError when the series are empty or of different lengths
 */
export function ratioOf(values: readonly number[], references: readonly number[]): Spread {
  if (values.length !== references.length)
    throw new RangeError(`${values.length} rounds cannot be compared with ${references.length}`);
  return spreadOf(values.map((value, round) => value / (references[round] as number)));
}

/** The median of ratios, and its bounds in brackets. */
export function formatRatios({ median, low, high }: Spread): string {
  return `${formatRatio(median)} (${formatNumber(low, 2)}–${formatNumber(high, 2)})`;
}

export function formatRatio(ratio: number): string {
  return `${formatNumber(ratio, 2)}×`;
}

export function formatNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
