import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { type Entry, evidenceOf } from '../ledger/entry.ts';
import { reportedOrderIn } from '../ledger/reported-order.ts';
import { isStillOpen, orderOf } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { isMarkedReducing, type Side } from '../model/order.ts';

/**
 * A stop-loss that the exchange made from an entry of this relay, or a stop order of this relay that only reduces, as the
 * ledger last knew it.
 */
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
  return followed.flatMap((entry) => {
    const { signal, signalId, execution } = entry;
    if (signal?.market !== market || execution === null) return [];
    if (signal.action === 'order' && isMarkedReducing(signal)) return findOwnStop(entry, entrySide);
    if (signal.action === 'order' && signal.side !== entrySide) return [];
    const own = orderOf(execution, 'order');
    return execution.orders
      .filter(({ role, status }) => role === 'stop_loss' && isStillOpen(status))
      .map(({ orderId, price }) => ({
        signalId,
        orderId,
        price: price === undefined ? null : parseDecimal(price),
        amount: own === null ? null : parseDecimal(own.filled),
        readAtMs: execution.readAtMs,
      }));
  });
}

/** A stop order of its own that stops the position out, such as one that replaces a missing stop-loss. */
function findOwnStop({ signal, signalId, execution, steps }: Entry, entrySide: Side): readonly KnownStop[] {
  if (signal?.action !== 'order' || signal.side === entrySide || execution === null) return [];
  if (!('stopPrice' in signal)) return [];
  const own = orderOf(execution, 'order');
  if (own === null || !isStillOpen(own.status)) return [];
  const order = reportedOrderIn(evidenceOf({ steps }, 'placed'));
  const amount = decimalIn(order?.['amount']);
  const condition = entrySide === 'buy' ? 'lte' : 'gte';
  // The exchange decides when it takes a stop order whether it waits for the price to rise or to fall.
  if ((order?.['activationCondition'] ?? condition) !== condition) return [];
  return [
    {
      signalId,
      orderId: own.orderId,
      price: parseDecimal(signal.stopPrice),
      amount: amount?.minus(parseDecimal(own.filled)) ?? null,
      readAtMs: execution.readAtMs,
    },
  ];
}
