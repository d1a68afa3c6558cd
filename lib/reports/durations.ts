/** How long something took: half of all within `p50Ms`, 95 of 100 within `p95Ms`. Milliseconds. */
export interface Durations {
  /** Of how many. */
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** @returns null when there is none */
export function measureDurations(durationsMs: readonly number[]): Durations | null {
  if (durationsMs.length === 0) return null;
  const sorted = durationsMs.toSorted((one, other) => one - other);
  return { count: sorted.length, p50Ms: nearestRank(sorted, 50), p95Ms: nearestRank(sorted, 95) };
}

/** The smallest value that at least so many per cent of the values do not exceed. It is one of them, never a mean. */
function nearestRank(sorted: readonly number[], percent: number): number {
  const rank = Math.ceil((sorted.length * percent) / 100);
  return sorted[rank - 1] ?? Number.NaN;
}
