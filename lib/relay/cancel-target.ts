import type { Json } from '../base/json.ts';
import type { Entry, Step } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** The entry that placed an order, by the exchange's id, as long as the ledger believes the order open; else null. */
export async function findOpenOrder(
  ledger: Ledger,
  {
    account,
    market,
    orderId,
  }: { readonly account: string; readonly market: string; readonly orderId: number },
): Promise<Entry | null> {
  const open = await ledger.openOrders(account, market);
  return open.find((entry) => entry.orderId === orderId) ?? null;
}

/** What the `sending` step of a cancellation keeps: the signal that placed the order, which nothing else may tell. */
export function placedByEvidence({ signalId }: Entry): Json {
  return { placedBy: signalId };
}

/** @returns the id of the signal that placed the order, or null when the steps do not tell */
export function placedByOf(steps: readonly Step[]): string | null {
  const evidence = steps.find(({ status }) => status === 'sending')?.evidence;
  if (typeof evidence !== 'object' || evidence === null || !('placedBy' in evidence)) return null;
  const { placedBy } = evidence;
  return typeof placedBy === 'string' ? placedBy : null;
}
