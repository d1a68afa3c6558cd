import { isOrderEnd, type Order, type OrderStatus } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { endedOrder } from './endpoints/ended-order.ts';
import { openOrder } from './endpoints/open-order.ts';
import { ExchangeError } from './errors.ts';
import { listConditionalOrders } from './list-conditional-orders.ts';

/** An order by the id its sender gave it. */
export interface OrderName {
  readonly market: string;
  readonly clientOrderId: string;
}

/** What the lists say of an order, open or ended. */
export type ListedOrder = Pick<
  Order,
  'orderId' | 'clientOrderId' | 'side' | 'status' | 'amount' | 'price' | 'filled' | 'filledNotional'
> & { readonly endReason?: string | undefined };

/** An order that a list shows. */
export interface FoundOrder {
  readonly kind: 'found';
  readonly order: ListedOrder;
  readonly isOpen: boolean;
  /** How many more orders of that name there are; any is one too many. */
  readonly others: number;
}

/** Where an order was seen. */
export type OrderPlace =
  | FoundOrder
  /** In none of the lists that hold every order. They may lag behind a create, or an end, by seconds. */
  | { readonly kind: 'not_found' }
  /** In no list there is, but the lists there are do not hold every order. */
  | { readonly kind: 'not_listed' };

/**
 * Looks an order up by its client order id.
 *
 * The live service lists every open and every ended order. The written API lists orders with exits alone, while they
 * are open: what is not among them may exist all the same.
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

/** Open ones first: an order that ends in between is seen twice rather than not at all. */
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
  // A server that does not heed the filter shows strangers, and no more than a page of all the orders there are.
  if (order === undefined) return { kind: listed.length === 0 ? 'not_found' : 'not_listed' };
  return { kind: 'found', order, isOpen: isOpen(order.status), others: orders.size - 1 };
}

/** The exchange answers "not found" with a refusal of its own. */
async function listEnded(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<readonly ListedOrder[]> {
  try {
    const byMarket = await client.call(endedOrder, { market, clientOrderId }, options);
    return Object.values(byMarket).flat();
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryMiss(error)) return [];
    throw error;
  }
}

function isHistoryMiss({ failure }: ExchangeError): boolean {
  return failure.kind === 'rejected' && failure.httpStatus === 422 && 'orderHistory' in failure.errors;
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
