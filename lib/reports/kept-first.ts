import type { FirstHoldings } from '../model/cost-books.ts';

/**
 * What an account held when it was first read, if every fill since then is kept. Where fills of that time may have expired, those
 * that are left do not tell what became of it: what it held then may be closed for long.
 *
 * @param keptFromMs fills from before may have expired; null: none expire
 */
export function firstIfKept(first: FirstHoldings | null, keptFromMs: number | null): FirstHoldings | null {
  return first === null || hasExpired(first, keptFromMs) ? null : first;
}

/** Whether fills that the relay has read of an account may have expired. */
export function hasExpired(first: FirstHoldings | null, keptFromMs: number | null): keptFromMs is number {
  return first !== null && keptFromMs !== null && first.atMs < keptFromMs;
}
