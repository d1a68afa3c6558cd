import type { Order } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { openOrder } from './endpoints/open-order.ts';

const pageSize = 100;
/**
 * When an order ends while the pages are read, later orders move up. Pages overlap so that none of them is
 * skipped.
 */
const overlap = 10;
const mostPages = 20;

/** The open orders of a market or of an account. `isWhole` is false when there are more orders than were read. */
export interface OpenOrders {
  readonly orders: readonly Order[];
  readonly isWhole: boolean;
}

/**
 * Reads the open orders of a market, or of all markets: every order kind, whoever placed the order. Only the live service has
 * this list. It may lag behind a create by seconds.
 *
 * @param market null: all markets
 * @throws ExchangeError when a page cannot be read
 */
export async function listOpenOrders(
  client: ExchangeClient,
  market: string | null,
  options: SendOptions,
): Promise<OpenOrders> {
  const found = new Map<number, Order>();
  for (let page = 0; page < mostPages; page += 1) {
    const offset = page * (pageSize - overlap);
    const params = { ...(market === null ? {} : { market }), limit: pageSize, offset };
    const orders = await client.call(openOrder, params, options);
    for (const order of orders) found.set(order.orderId, order);
    if (orders.length < pageSize) return { orders: [...found.values()], isWhole: true };
  }
  return { orders: [...found.values()], isWhole: false };
}
