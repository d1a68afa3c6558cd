import type { Clock } from '../base/clock.ts';
import type { Endpoint } from './endpoint.ts';

/** Limits the requests to one endpoint of one address in any 10 seconds. */
export interface RateBudget {
  /** Counts one request and returns 0, or counts nothing and returns how many milliseconds to wait. */
  take(): number;
}

/** One budget per endpoint and address. Clients with the same address share it. */
export interface RateBudgets {
  of(baseUrl: string, endpoint: Pick<Endpoint, 'name' | 'requestsPer10s'>): RateBudget;
}

export function createRateBudgets(clock: Clock): RateBudgets {
  const budgets = new Map<string, RateBudget>();
  return {
    of(baseUrl, { name, requestsPer10s }) {
      const key = `${baseUrl} ${name}`;
      let budget = budgets.get(key);
      if (budget === undefined) {
        budget = createRateBudget(clock, requestsPer10s);
        budgets.set(key, budget);
      }
      return budget;
    },
  };
}

/**
 * Clock readings are whole milliseconds, rounded down: only a difference of 10 001 proves that 10 000 have
 * passed.
 */
const spacingMs = 10_001;

/**
 * Exact over every window: each request waits until the one `requestsPer10s` before it is more than 10 s old.
 */
function createRateBudget(clock: Clock, requestsPer10s: number): RateBudget {
  const sentAtMs = new Float64Array(requestsPer10s).fill(Number.NEGATIVE_INFINITY);
  let oldest = 0;
  return {
    take() {
      const nowMs = clock.nowMs();
      const waitMs = (sentAtMs[oldest] ?? 0) + spacingMs - nowMs;
      // A wait of more than a whole window means that the clock was set back. Earlier readings no longer
      // count.
      if (waitMs > 0 && waitMs <= spacingMs) return waitMs;
      sentAtMs[oldest] = nowMs;
      oldest = (oldest + 1) % requestsPer10s;
      return 0;
    },
  };
}
