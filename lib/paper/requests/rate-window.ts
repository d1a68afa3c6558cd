const windowMs = 10_000;

/** Counts one request and returns true, or returns false if the limit of the last 10 seconds is reached. */
export type RateWindow = (atMs: number) => boolean;

/** @param most requests in any 10 seconds */
export function createRateWindow(most: number): RateWindow {
  let times: number[] = [];
  let first = 0;
  return (atMs) => {
    while (first < times.length && (times[first] ?? 0) <= atMs - windowMs) first += 1;
    // Old times are removed in batches, so that the cost per request stays constant on average.
    if (first > most) {
      times = times.slice(first);
      first = 0;
    }
    if (times.length - first >= most) return false;
    times.push(atMs);
    return true;
  };
}
