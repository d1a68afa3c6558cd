import { type Decimal, zero } from '../base/decimal.ts';
import { cancelOrder } from '../exchange/endpoints/cancel-order.ts';
import { openOrder } from '../exchange/endpoints/open-order.ts';
import { ExchangeError, isOrderNotOpen } from '../exchange/errors.ts';
import { findOrder } from '../exchange/find-order.ts';
import type { SentOrder } from './rehearsal-book.ts';
import { askUntilSeen, longestWaitMs, type Stage } from './stage.ts';

/** An order of the rehearsal that is surely not open any more. */
export interface SpentOrder {
  /** In base units. */
  readonly filled: Decimal;
  /** Null when no list shows it: then it was never placed, or ended without a fill. */
  readonly orderId: number | null;
}

/** What the orders of a rehearsal have filled, once none of them is open. */
export interface Opened {
  /** In base units: what was bought without what was sold. */
  readonly net: Decimal;
  readonly orderIds: ReadonlySet<number>;
  readonly hasFilled: boolean;
}

/**
 * Cancels an order of the rehearsal, and finds out what it has filled.
 *
 * @returns null when the lists do not tell what became of it
 * @throws ExchangeError when the exchange cannot be asked
 */
export async function endSent(stage: Stage, sent: SentOrder): Promise<SpentOrder | null> {
  const { client, clock, limits } = stage;
  const name = { market: sent.market, clientOrderId: sent.clientOrderId };
  const cancelled = await cancelNamed(stage, name);
  // A second order with the same id, if the exchange took one.
  const { records } = await client.call(openOrder, name, limits);
  for (const { orderId, clientOrderId } of records)
    if (clientOrderId === name.clientOrderId && orderId !== cancelled?.orderId)
      await cancelNamed(stage, { market: sent.market, orderId });
  if (cancelled !== null) return cancelled;
  const ended = await askUntilSeen<SpentOrder>(
    stage,
    async () => {
      const place = await findOrder(client, name, limits);
      if (place.kind === 'filled') return { filled: place.filled, orderId: place.orderId };
      if (place.kind === 'found' && !place.isOpen)
        return { filled: place.order.filled, orderId: place.order.orderId };
      // A request that is still on its way arrives within seconds.
      const isOld = clock.nowMs() - sent.atMs >= longestWaitMs;
      return place.kind === 'not_found' && isOld ? { filled: zero, orderId: null } : null;
    },
    longestWaitMs * 2,
  );
  return ended?.value ?? null;
}

type OrderName =
  | { readonly market: string; readonly orderId: number }
  | { readonly market: string; readonly clientOrderId: string };

/** @returns null when the exchange says that no such order is open */
export async function cancelNamed({ client, limits }: Stage, name: OrderName): Promise<SpentOrder | null> {
  try {
    const { filled, orderId } = await client.call(cancelOrder, name, limits);
    return { filled, orderId };
  } catch (error) {
    if (error instanceof ExchangeError && isOrderNotOpen(error)) return null;
    throw error;
  }
}
