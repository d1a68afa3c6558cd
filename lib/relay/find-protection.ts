import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { isStillOpen } from '../ledger/executions.ts';
import type { OpenPosition } from '../model/holdings.ts';

/** A stop-loss that the exchange made from an entry of this relay, as the ledger last knew it. */
export interface KnownStop {
  readonly signalId: string;
  readonly orderId: number;
  /** The trigger price; null when it is not known. */
  readonly price: Decimal | null;
  /** How much of the position it closes, in base units; null when it is not known. */
  readonly amount: Decimal | null;
  /** When the exchange last said something new of it. */
  readonly readAtMs: number;
}

/**
 * The stop-loss orders of this relay that protect a position, as far as the ledger knows.
 *
 * @param followed the entries whose orders are followed
 */
export function findStops(
  { market, amount }: Pick<OpenPosition, 'market' | 'amount'>,
  followed: readonly Entry[],
): readonly KnownStop[] {
  const entrySide = amount.gt(zero) ? 'buy' : 'sell';
  return followed.flatMap(({ signal, signalId, execution }) => {
    if (signal?.market !== market || execution === null) return [];
    if (signal.action === 'order' && signal.side !== entrySide) return [];
    const own = execution.orders.find(({ role }) => role === 'order');
    return execution.orders
      .filter(({ role, status }) => role === 'stop_loss' && isStillOpen(status))
      .map(({ orderId, price }) => ({
        signalId,
        orderId,
        price: price === undefined ? null : parseDecimal(price),
        amount: own === undefined ? null : parseDecimal(own.filled),
        readAtMs: execution.readAtMs,
      }));
  });
}
