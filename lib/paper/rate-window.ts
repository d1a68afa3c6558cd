const windowMs = 10_000;

/** Counts requests in the last 10 seconds; true while another one fits. */
export type RateWindow = (atMs: number) => boolean;

/** @param most requests in any 10 seconds */
export function createRateWindow(most: number): RateWindow {
  let times: number[] = [];
  let first = 0;
  return (atMs) => {
    while (first < times.length && (times[first] ?? 0) <= atMs - windowMs) first += 1;
    // The spent half is cut off now and then, so that each request costs the same.
    if (first > most) {
      times = times.slice(first);
      first = 0;
    }
    if (times.length - first >= most) return false;
    times.push(atMs);
    return true;
  };
}
