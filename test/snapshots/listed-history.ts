import { parseDecimal } from '../../lib/base/decimal.ts';
import type { ListedPayment } from '../../lib/snapshots/read-payments.ts';
import type { InterestPayment } from '../../lib/snapshots/snapshot-store.ts';

/** A payment of a second; payments of the same second and kind are equal in every field. */
export function listed(second: number, kind = 'a', planId = 'plan-1'): ListedPayment {
  const amount = parseDecimal('1.5');
  return { planId, investmentId: kind, ticker: 'USDT', amount, paidAtMs: second * 1000 };
}

/** Several payments that are equal in every field. */
export function alike(count: number, second: number, kind = 'a'): readonly ListedPayment[] {
  return Array.from({ length: count }, () => listed(second, kind));
}

/** The exchange's list, newest first, which may change before each response. */
export interface ListedHistory {
  /** Newest first. */
  readonly payments: ListedPayment[];
  /** The offset of each requested page. */
  readonly asked: readonly number[];
  /** Inserts payments in order of time, before those of the same time. */
  add(...payments: readonly ListedPayment[]): void;
  ask(offset: number): Promise<readonly ListedPayment[]>;
}

/** @param beforeResponse called with the number of pages requested before */
export function createHistory(
  payments: readonly ListedPayment[],
  beforeResponse: (history: ListedHistory, count: number) => void = () => {},
): ListedHistory {
  const asked: number[] = [];
  const history: ListedHistory = {
    payments: [],
    asked,
    add(...added) {
      // The newest payment comes first within its second, because the sort is stable.
      const all = [...added.toReversed(), ...history.payments];
      history.payments.splice(0, history.payments.length, ...all.sort((a, b) => b.paidAtMs - a.paidAtMs));
    },
    async ask(offset) {
      if (offset < 0 || offset > 10_000) throw new RangeError(`the exchange takes no offset of ${offset}`);
      beforeResponse(history, asked.length);
      asked.push(offset);
      return history.payments.slice(offset, offset + 100);
    },
  };
  history.add(...payments);
  return history;
}

/** How often each payment is in a list: `second kind` → count. */
export function countPayments(
  payments: readonly (ListedPayment | InterestPayment)[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { paidAtMs, investmentId, planId } of payments) {
    const name = `${paidAtMs / 1000} ${planId} ${investmentId}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
