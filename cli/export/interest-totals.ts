import { type Decimal, zero } from '../../lib/base/decimal.ts';
import type { InterestPayment } from '../../lib/snapshots/snapshot-store.ts';

export const interestGroupings = ['month', 'plan', 'ticker'] as const;
export type InterestGrouping = (typeof interestGroupings)[number];

/** The exact sum of the payments in one currency. */
export interface TickerTotal {
  readonly ticker: string;
  readonly payments: number;
  readonly amount: Decimal;
}

export interface GroupTotal extends TickerTotal {
  /** A month in UTC such as `2026-11`, the id of a plan, or the ticker. */
  readonly group: string;
}

export interface InterestTotals {
  /** Sorted by group, then by ticker. */
  readonly groups: readonly GroupTotal[];
  /** Sorted by ticker. */
  readonly totals: readonly TickerTotal[];
  readonly newestMs: number | null;
}

/** Adds up payments. @param payments oldest first */
export async function sumPayments(
  payments: AsyncIterable<InterestPayment>,
  by: InterestGrouping,
): Promise<InterestTotals> {
  const groups = new Map<string, GroupTotal>();
  const totals = new Map<string, TickerTotal>();
  let newestMs: number | null = null;
  for await (const payment of payments) {
    const { ticker } = payment;
    const group = groupOf(payment, by);
    const key = JSON.stringify([group, ticker]);
    groups.set(key, { group, ...addTo(groups.get(key), payment) });
    totals.set(ticker, addTo(totals.get(ticker), payment));
    newestMs = payment.paidAtMs;
  }
  return {
    groups: [...groups.values()].sort(byGroupAndTicker),
    totals: [...totals.values()].sort(byTicker),
    newestMs,
  };
}

function groupOf({ planId, ticker, paidAtMs }: InterestPayment, by: InterestGrouping): string {
  switch (by) {
    case 'month':
      return new Date(paidAtMs).toISOString().slice(0, 'yyyy-mm'.length);
    case 'plan':
      return planId;
    case 'ticker':
      return ticker;
  }
}

function addTo(total: TickerTotal | undefined, { ticker, amount }: InterestPayment): TickerTotal {
  const { payments, amount: sum } = total ?? { payments: 0, amount: zero };
  return { ticker, payments: payments + 1, amount: sum.plus(amount) };
}

function byTicker(one: TickerTotal, other: TickerTotal): number {
  return one.ticker < other.ticker ? -1 : 1;
}

function byGroupAndTicker(one: GroupTotal, other: GroupTotal): number {
  return one.group === other.group ? byTicker(one, other) : one.group < other.group ? -1 : 1;
}
