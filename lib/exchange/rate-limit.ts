import type { Clock } from '../base/clock.ts';
import type { Endpoint } from './endpoint.ts';

/** How many requests of one endpoint one address takes in any 10 seconds. */
export interface RateBudget {
  /** Counts one request and returns 0, or returns for how many milliseconds nothing may be sent. */
  take(): number;
}

/** The budgets of every endpoint at every address: clients that share an address share them. */
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

/** Clock readings are cut to whole milliseconds: only a difference of 10 001 proves that 10 000 have passed. */
const spacingMs = 10_001;

/** Exact over every window: the n-th request waits until the one n places before it is 10 seconds old. */
function createRateBudget(clock: Clock, requestsPer10s: number): RateBudget {
  const sentAtMs = new Float64Array(requestsPer10s).fill(Number.NEGATIVE_INFINITY);
  let oldest = 0;
  return {
    take() {
      const nowMs = clock.nowMs();
      const waitMs = (sentAtMs[oldest] ?? 0) + spacingMs - nowMs;
      // More than a whole window means that the clock was set back; what it said before counts no more.
      if (waitMs > 0 && waitMs <= spacingMs) return waitMs;
      sentAtMs[oldest] = nowMs;
      oldest = (oldest + 1) % requestsPer10s;
      return 0;
    },
  };
}
