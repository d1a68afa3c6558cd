import type { Decimal } from '../base/decimal.ts';
import { decimalIn, fieldsOf } from '../base/json.ts';
import { finalReportIn } from '../ledger/reported-order.ts';
import { saysNothingToReduce } from '../positions/judge-reduce-leg.ts';
import type { SeenPosition } from '../positions/seen-position.ts';
import type { Outcome } from './action.ts';

/** A position that an order closes, or reduces. */
export interface ReducedPosition {
  readonly account: string;
  readonly market: string;
  /** Before it was closed. */
  readonly position: SeenPosition;
  /** When it had changed last, on the exchange's clock; null when that is not known. */
  readonly modifiedAtMs: number | null;
  /** By how much the order is to reduce it. */
  readonly amount: Decimal;
}

/**
 * Whether the response shows that no position is left: the order filled for all of it, or for all that the exchange cut it
 * to because others had reduced the position meanwhile, or there was nothing to reduce any more. `perhaps`: its rest had
 * ended before it was cancelled, so it may have filled.
 */
export function closesWhole(
  { status, evidence }: Outcome,
  { position, amount }: ReducedPosition,
): 'yes' | 'no' | 'perhaps' {
  if (status === 'rejected') return saysNothingToReduce(evidence) ? 'yes' : 'no';
  if (status !== 'placed') return 'no';
  const order = finalReportIn(evidence);
  const [sent, filled] = [decimalIn(order['amount']), decimalIn(order['filled'])];
  if (sent === null || filled === null) return 'no';
  const held = position.amount.abs();
  const isForAll = sent.lt(amount) || amount.gte(held);
  if (filled.gte(held) || (filled.gte(sent) && isForAll)) return 'yes';
  return fieldsOf(evidence)['ended'] === null && isForAll ? 'perhaps' : 'no';
}
