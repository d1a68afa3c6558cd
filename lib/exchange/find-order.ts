import { isOrderEnd, type Order, type OrderStatus } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { endedOrder } from './endpoints/ended-order.ts';
import { openOrder } from './endpoints/open-order.ts';
import { ExchangeError, isHistoryNotFound } from './errors.ts';
import { listConditionalOrders } from './list-conditional-orders.ts';

/** Names an order by its client order id. */
export interface OrderName {
  readonly market: string;
  readonly clientOrderId: string;
}

/** The fields that the lists of open and of ended orders both have. */
export type ListedOrder = Pick<
  Order,
  'orderId' | 'clientOrderId' | 'side' | 'status' | 'amount' | 'price' | 'filled' | 'filledNotional'
> & { readonly endReason?: string | undefined };

/** An order that is in a list. */
export interface FoundOrder {
  readonly kind: 'found';
  readonly order: ListedOrder;
  readonly isOpen: boolean;
  /** How many other orders carry the same client order id. Anything above 0 is an anomaly. */
  readonly others: number;
}

/** Where an order was found, if it was. */
export type OrderPlace =
  | FoundOrder
  /**
   * In none of the lists, which together hold every order. They may lag behind a create or an end by seconds.
   */
  | { readonly kind: 'not_found' }
  /** In none of the lists, but they do not hold every order, so the order may still exist. */
  | { readonly kind: 'not_listed' };

/**
 * Looks an order up by its client order id.
 *
 * The live service lists every open and every ended order. The written API lists only open orders with a
 * take-profit or stop-loss, so an order that is missing there may still exist.
 *
 * @throws ExchangeError when the lists cannot be read
 */
export async function findOrder(
  client: ExchangeClient,
  name: OrderName,
  options: SendOptions,
): Promise<OrderPlace> {
  return client.dialect === 'live'
    ? await findInAll(client, name, options)
    : await findAmongConditional(client, name, options);
}

/**
 * Reads the open orders first: an order that ends between the two reads is then in both lists, not in
 * neither.
 */
async function findInAll(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<OrderPlace> {
  const open = await client.call(openOrder, { market, clientOrderId }, options);
  const ended = await listEnded(client, { market, clientOrderId }, options);
  const listed = [...open, ...ended];
  const named = listed.filter((order) => order.clientOrderId === clientOrderId);
  const orders = new Map<number, ListedOrder>(named.map((order) => [order.orderId, order]));
  const [order] = orders.values();
  // A server that ignores the filter lists other orders, and only one page of them, which proves nothing.
  if (order === undefined) return { kind: listed.length === 0 ? 'not_found' : 'not_listed' };
  return { kind: 'found', order, isOpen: isOpen(order.status), others: orders.size - 1 };
}

/** The exchange reports "no ended order found" as a refusal. */
async function listEnded(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<readonly ListedOrder[]> {
  try {
    const byMarket = await client.call(endedOrder, { market, clientOrderId }, options);
    return Object.values(byMarket).flat();
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryNotFound(error)) return [];
    throw error;
  }
}

async function findAmongConditional(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<OrderPlace> {
  const records = await listConditionalOrders(client, market, options);
  const legs = records.flatMap((record) =>
    record.kind === 'oto' ? [record.primary] : [record.stopLoss, record.takeProfit],
  );
  const [order, ...others] = legs.filter((leg) => leg.clientOrderId === clientOrderId);
  if (order === undefined) return { kind: 'not_listed' };
  return { kind: 'found', order, isOpen: isOpen(order.status), others: others.length };
}

function isOpen(status: OrderStatus): boolean {
  return !isOrderEnd(status);
}
