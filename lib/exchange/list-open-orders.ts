import type { Order } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { openOrder } from './endpoints/open-order.ts';

const pageSize = 100;
/** An order that ends while the pages are read moves the others up: pages overlap, so that none falls between. */
const overlap = 10;
const mostPages = 20;

/** The open orders of a market; `isWhole` is false when there are more than were read. */
export interface OpenOrders {
  readonly orders: readonly Order[];
  readonly isWhole: boolean;
}

/**
 * Reads what is open in a market, all kinds of orders, whoever placed them. Only the live service lists it. The list
 * may lag behind a create by seconds.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listOpenOrders(
  client: ExchangeClient,
  market: string,
  options: SendOptions,
): Promise<OpenOrders> {
  const found = new Map<number, Order>();
  for (let page = 0; page < mostPages; page += 1) {
    const offset = page * (pageSize - overlap);
    const orders = await client.call(openOrder, { market, limit: pageSize, offset }, options);
    for (const order of orders) found.set(order.orderId, order);
    if (orders.length < pageSize) return { orders: [...found.values()], isWhole: true };
  }
  return { orders: [...found.values()], isWhole: false };
}
