import { formatDecimal } from '../../base/decimal.ts';
import { listSignalFills } from '../../ledger/executions.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { AccountMemory } from './follow-memory.ts';
import type { FollowServices } from './follow-services.ts';
import type { FollowedEntry } from './followed-entry.ts';

/**
 * Raises an alarm for each order of which more fills are listed than it can have. A process that begins anew reads which of
 * them were booked before: those stay, and the others do not count.
 *
 * @throws RelayError `store_unavailable`
 */
export async function tellSurplus(
  { executions }: Pick<FollowServices, 'executions'>,
  teller: Teller,
  account: string,
  followed: readonly FollowedEntry[],
  memory: AccountMemory,
  nowMs: number,
): Promise<void> {
  for (const one of followed) {
    const { overfilled } = one;
    for (const { market, orderId, deals, sum, surplus } of overfilled) {
      const known = memory.knownOf({ market, orderId });
      if (!known.isStoredKnown) {
        const times = [...deals, ...surplus].map(({ atMs }) => atMs);
        const fills = listSignalFills(executions, account, Math.min(...times), Math.max(...times) + 1);
        for await (const fill of fills)
          if (fill.orderId === orderId && fill.market === market) known.stored.add(fill.dealId);
        known.isStoredKnown = true;
      }
      const message = `more fills are listed for order ${orderId} than it can have: a deal may be listed under two ids; what exceeds the order is not counted: compare \`npx relay signal ${one.entry.signalId}\` with the history on the website of the exchange`;
      await teller.tell(account, {
        key: `fills ${market} ${orderId}`,
        alarm: { name: 'fills_contradicted', message },
        facts: {
          signalId: one.entry.signalId,
          market,
          orderId,
          counted: formatDecimal(sum),
          notCounted: surplus.map(({ id }) => id),
        },
        everyMs: null,
      });
    }
    if (overfilled.length > 0) one.judge(memory, nowMs);
  }
}
