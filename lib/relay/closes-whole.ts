import { type Decimal, parseDecimal } from '../base/decimal.ts';
import { finalReport } from '../ledger/order-facts.ts';
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
  /** The ids of the exits that the list of positions showed beside it. */
  readonly attached: readonly number[];
  /** By how much the order is to reduce it. */
  readonly amount: Decimal;
}

/**
 * Whether the response shows that no position is left: the order filled for all of it, or for all that the exchange cut it
 * to because others had reduced the position meanwhile, or there was nothing to reduce any more. `perhaps`: its rest had
 * ended before it was cancelled, so it may have filled.
 */
export function closesWhole(
  { status, facts = {} }: Outcome,
  { position, amount }: ReducedPosition,
): 'yes' | 'no' | 'perhaps' {
  if (status === 'rejected') return saysNothingToReduce(facts) ? 'yes' : 'no';
  if (status !== 'placed') return 'no';
  const order = finalReport(facts);
  if (order === null) return 'no';
  const [sent, filled] = [parseDecimal(order.amount), parseDecimal(order.filled)];
  const held = position.amount.abs();
  const isForAll = sent.lt(amount) || amount.gte(held);
  if (filled.gte(held) || (filled.gte(sent) && isForAll)) return 'yes';
  return facts.ended === null && isForAll ? 'perhaps' : 'no';
}
