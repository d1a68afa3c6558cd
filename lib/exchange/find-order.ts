import { type Decimal, sumOf } from '../base/decimal.ts';
import type { Deal } from '../model/holdings.ts';
import { isOrderEnd, type Order, type OrderStatus, type Side } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { endedOrder } from './endpoints/ended-order.ts';
import { executedHistory } from './endpoints/executed-history.ts';
import { openOrder } from './endpoints/open-order.ts';
import { ExchangeError, isHistoryNotFound } from './errors.ts';
import { listConditionalOrders } from './list-conditional-orders.ts';
import { legsOf } from './list-groups.ts';
import { isWholePage, type ListPage } from './listed.ts';

/** Names an order by its client order id. */
export interface OrderName {
  readonly market: string;
  readonly clientOrderId: string;
}

/** The fields that the lists of open and of ended orders both have. */
export type ListedOrder = Pick<
  Order,
  'orderId' | 'clientOrderId' | 'side' | 'status' | 'amount' | 'price' | 'filled' | 'filledNotional'
> & {
  readonly endReason?: string | undefined;
  /** Of one that has ended, on the exchange's clock. */
  readonly endedAtMs?: number;
};

/** An order that is in a list. */
export interface FoundOrder {
  readonly kind: 'found';
  readonly order: ListedOrder;
  readonly isOpen: boolean;
  /** How many other orders carry the same client order id. Anything above 0 is an anomaly. */
  readonly others: number;
}

/** An order that is in no list, but of which fills are listed: it ended, and a partner's lists omit cancelled orders. */
export interface FilledOrder {
  readonly kind: 'filled';
  readonly orderId: number;
  readonly side: Side;
  readonly filled: Decimal;
  readonly filledNotional: Decimal;
}

/** Where an order was found, if it was. */
export type OrderPlace =
  | FoundOrder
  | FilledOrder
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
 * @see DECISIONS 118
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
  const listed = [...open.records, ...ended.records];
  const named = listed.filter((order) => order.clientOrderId === clientOrderId);
  const orders = new Map<number, ListedOrder>(named.map((order) => [order.orderId, order]));
  const [order] = orders.values();
  // A server that ignores the filter lists other orders, and only one page of them, which proves nothing. Nor does a record
  // that cannot be read: it may be the order.
  if (order === undefined)
    return open.count + ended.count === 0
      ? await findFills(client, { market, clientOrderId }, options)
      : { kind: 'not_listed' };
  return { kind: 'found', order, isOpen: isOpen(order.status), others: orders.size - 1 };
}

/** The exchange reports "no ended order found" as a refusal. */
async function listEnded(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<ListPage<ListedOrder>> {
  try {
    return await client.call(endedOrder, { market, clientOrderId }, options);
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryNotFound(error)) return emptyPage;
    throw error;
  }
}

/**
 * The history of a partner's account holds no cancelled orders, so the fills are asked as well. Fills of several orders, or
 * with another client order id, mean that the server ignored the filter, which proves nothing.
 */
async function findFills(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<OrderPlace> {
  const fills = await listFills(client, { market, clientOrderId }, options);
  const [first] = fills.records;
  if (!isWholePage(fills)) return { kind: 'not_listed' };
  if (first === undefined) return { kind: 'not_found' };
  const { orderId, side } = first;
  const isStrange = (fill: Deal) =>
    fill.orderId !== orderId || fill.side !== side || (fill.clientOrderId ?? clientOrderId) !== clientOrderId;
  if (orderId === undefined || fills.records.some(isStrange)) return { kind: 'not_listed' };
  return {
    kind: 'filled',
    orderId,
    side,
    filled: sumOf(fills.records.map(({ amount }) => amount)),
    filledNotional: sumOf(fills.records.map(({ notional }) => notional)),
  };
}

/** The exchange reports "no fill found" as a refusal. */
async function listFills(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<ListPage<Deal>> {
  try {
    return await client.call(executedHistory, { market, clientOrderId, limit: mostFills }, options);
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryNotFound(error)) return emptyPage;
    throw error;
  }
}

const mostFills = 500;
const emptyPage: ListPage<never> = { records: [], count: 0, oddities: [] };

async function findAmongConditional(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  options: SendOptions,
): Promise<OrderPlace> {
  const { groups } = await listConditionalOrders(client, market, options);
  const [order, ...others] = groups.flatMap(legsOf).filter((leg) => leg.clientOrderId === clientOrderId);
  if (order === undefined) return { kind: 'not_listed' };
  return { kind: 'found', order, isOpen: isOpen(order.status), others: others.length };
}

function isOpen(status: OrderStatus): boolean {
  return !isOrderEnd(status);
}
