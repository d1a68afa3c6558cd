import type { ReducedPosition } from '../../account/exit-claims.ts';
import { parseDecimal } from '../../base/decimal.ts';
import { finalReport } from '../../ledger/order-facts.ts';
import type { Outcome } from '../execute/action.ts';
import { saysNothingToReduce } from './judge-reduce-leg.ts';

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
