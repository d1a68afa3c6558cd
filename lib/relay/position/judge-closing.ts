import type { ReducedPosition } from '../../account/exit-claims.ts';
import { type Decimal, maximum, parseDecimal, zero } from '../../base/decimal.ts';
import { finalReport } from '../../ledger/order-facts.ts';
import type { Outcome } from '../execute/action.ts';
import { saysNothingToReduce } from './reduce-leg.ts';

/**
 * What the response shows of the position that an order was to close.
 *
 * - `whole`: none is left. The order filled for all of it, or for all that the exchange cut it to because others had reduced
 *   the position meanwhile, or there was nothing to reduce any more.
 * - `perhaps`: the rest of the order had ended before it was cancelled, so it may have filled.
 * - `rest`: the order was for all of it, and filled only in part.
 * - `other`: it was for a part, or nothing is known of it.
 */
export type Closing =
  | {
      readonly kind: 'whole';
      /** What others had closed before it, in base units; null when the exchange refused it because nothing was left. */
      readonly cut: Decimal | null;
    }
  | { readonly kind: 'perhaps' }
  | {
      readonly kind: 'rest';
      /** In base units. */
      readonly filled: Decimal;
      readonly rest: Decimal;
    }
  | { readonly kind: 'other' };

/** Judges the outcome of an order that was to reduce a position. */
export function judgeClosing(
  { status, facts = {} }: Outcome,
  { position, amount, isFurtherTry = false }: ReducedPosition,
): Closing {
  if (status === 'rejected') return saysNothingToReduce(facts) ? { kind: 'whole', cut: null } : other;
  const order = status === 'placed' ? finalReport(facts) : null;
  if (order === null) return other;
  const [sent, filled] = [parseDecimal(order.amount), parseDecimal(order.filled)];
  const held = position.amount.abs();
  const isForAll = sent.lt(amount) || amount.gte(held);
  if (filled.gte(held) || (filled.gte(sent) && isForAll))
    return { kind: 'whole', cut: maximum(amount.minus(sent), zero) };
  if (!isForAll && !(isFurtherTry && filled.lt(sent))) return other;
  return facts.ended === null ? { kind: 'perhaps' } : { kind: 'rest', filled, rest: sent.minus(filled) };
}

const other: Closing = { kind: 'other' };

/** What an order that takes at once has filled, and what of it the book did not take, in base units. */
export interface EndedRest {
  readonly filled: Decimal;
  readonly rest: Decimal;
}

/**
 * How an order that takes at once has ended. What the exchange has cut off it, as more than the position, is no rest.
 *
 * @returns null when it is not known, or when it was not placed
 */
export function judgeEnded({ status, facts = {}, orderOpen }: Outcome): EndedRest | null {
  const order = status === 'placed' && orderOpen === false ? finalReport(facts) : null;
  if (order === null || facts.ended === null) return null;
  const filled = parseDecimal(order.filled);
  return { filled, rest: parseDecimal(order.amount).minus(filled) };
}
