import { formatDecimal } from '../base/decimal.ts';
import { listOpenOrders } from '../exchange/list-open-orders.ts';
import { exitPriceOf, type Order } from '../model/order.ts';
import { cancelNamed } from './end-sent.ts';
import type { SentOrder } from './rehearsal-book.ts';
import type { Stage } from './stage.ts';

/** The exchange may make exits a little after the fill, and one that can open a position must not stay. */
const quietMs = 3_000;
const pauseMs = 1_000;

/**
 * Cancels the exits that the exchange made of the rehearsal's orders, until none has shown for a while.
 *
 * @throws ExchangeError when the exchange cannot be asked
 */
export async function clearExits(stage: Stage, sent: readonly SentOrder[]): Promise<void> {
  const { client, clock, market } = stage;
  if (!sent.some(({ stopLoss, takeProfit }) => stopLoss !== null || takeProfit !== null)) return;
  let quietSinceMs = clock.nowMs();
  while (clock.nowMs() - quietSinceMs < quietMs) {
    const { orders } = await listOpenOrders(client, market.name, stage.limits);
    for (const order of orders.filter((one) => isExitOf(one, sent))) {
      const cancelled = await cancelNamed(stage, { market: market.name, orderId: order.orderId });
      // A list that lags behind shows it all the same.
      if (cancelled !== null) quietSinceMs = clock.nowMs();
    }
    await clock.sleep(pauseMs);
  }
}

/** The exchange gives exits no client order id; their prices are those that were asked for. */
export function isExitOf(order: Order, sent: readonly SentOrder[]): boolean {
  if (order.clientOrderId !== '') return false;
  const price = formatDecimal(exitPriceOf(order));
  return sent.some(
    ({ side, stopLoss, takeProfit }) => side !== order.side && (price === stopLoss || price === takeProfit),
  );
}
