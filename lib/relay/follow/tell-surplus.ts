import { hasPassed } from '../../base/clock.ts';
import { type Decimal, formatDecimal, maximum, parseDecimal, sumOf, zero } from '../../base/decimal.ts';
import { longestOrderLagMs } from '../../exchange/lag.ts';
import { listSignalFills } from '../../ledger/executions.ts';
import { filledBy, type OrderRecord } from '../../ledger/order-record.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import { mayStillBeOpen } from '../../model/execution.ts';
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

/**
 * Raises an alarm for each entry whose stop-losses and take-profits have sold more than it had filled: two of them filled in the
 * same moment, or the exchange made one for more. What that took was of other entries, or of what the owner holds.
 *
 * @param records of the account, as this reading has told them
 */
export async function tellOversold(
  teller: Teller,
  account: string,
  records: readonly OrderRecord[],
  nowMs: number,
): Promise<void> {
  for (const record of records) {
    const { signalId, market, orderId, exits } = record;
    const filled = record.protects === null ? surelyFilled(record, nowMs) : null;
    if (filled === null) continue;
    const kept = records.filter(({ protects }) => protects?.of === signalId);
    const made = exits.flatMap(({ order }) => (order === null ? [] : [parseDecimal(order.filled)]));
    const sold = sumOf([...made, ...kept.map(filledBy)]);
    const surplus = sold.minus(filled);
    if (!surplus.gt(zero)) continue;
    await teller.tell(account, {
      key: `oversold ${market} ${orderId}`,
      alarm: {
        name: 'protection_failed',
        message: `stop-losses and take-profits of "${signalId}" have filled for ${formatDecimal(sold)} in ${market}, and its order for ${formatDecimal(filled)}: what is more came out of other entries, or of what you hold; compare what is held with what you want to hold`,
      },
      facts: {
        signalId,
        market,
        orderId,
        surplus: formatDecimal(surplus),
        whatToDo: `npx relay signal ${signalId}`,
      },
      everyMs: null,
    });
  }
}

/** What an order has filled, once it can fill no more and lists need not lag behind it, in base units; null before. */
function surelyFilled(record: OrderRecord, nowMs: number): Decimal | null {
  const { state, amount, spot, endedAtMs } = record;
  if (mayStillBeOpen(state)) return null;
  const filled = filledBy(record);
  if (state === 'filled' && amount !== null && spot?.isQuoteSized !== true) return maximum(filled, amount);
  return hasPassed(endedAtMs ?? nowMs, longestOrderLagMs, nowMs) ? filled : null;
}
