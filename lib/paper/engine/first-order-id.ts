import { leastOrderId } from './exchange-state.ts';

const countedFromMs = Date.UTC(2026, 0, 1);
/** More than the paper exchange can take on one machine. */
const ordersPerSecond = 1000;

/**
 * The first order id of a journal that is begun at that time. The ledger of a relay outlives a journal: its entries
 * must not name orders of a later one.
 */
export function firstOrderIdAt(nowMs: number): number {
  const seconds = Math.max(0, Math.floor((nowMs - countedFromMs) / 1000));
  return leastOrderId + seconds * ordersPerSecond;
}
