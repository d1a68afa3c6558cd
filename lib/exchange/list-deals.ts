import type { Deal } from '../model/holdings.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { executedHistory } from './endpoints/executed-history.ts';
import { ExchangeError, isHistoryNotFound } from './errors.ts';
import type { OrderName } from './find-order.ts';

/** Larger pages are slow, says the exchange. */
const pageSize = 100;
const mostPages = 20;

/** The fills of an order, newest first. `isWhole` is false when there are more than were read. */
export interface OrderDeals {
  readonly deals: readonly Deal[];
  readonly isWhole: boolean;
}

/**
 * Reads the fills of an order. Only the live service has this list. No fills prove that none was listed yet, not that
 * there was no order. A client order id can be used again once its order has ended: the fills may belong to several
 * orders, which `orderId` tells apart.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listDeals(
  client: ExchangeClient,
  name: OrderName,
  options: SendOptions,
): Promise<OrderDeals> {
  const found = new Map<number, Deal>();
  for (let page = 0; page < mostPages; page += 1) {
    const deals = await readPage(client, name, page * pageSize, options);
    for (const deal of deals) found.set(deal.id, deal);
    if (deals.length < pageSize) return { deals: [...found.values()], isWhole: true };
  }
  return { deals: [...found.values()], isWhole: false };
}

/** The exchange reports "no fills found" as a refusal. */
async function readPage(
  client: ExchangeClient,
  { market, clientOrderId }: OrderName,
  offset: number,
  options: SendOptions,
): Promise<readonly Deal[]> {
  try {
    const query = { market, clientOrderId, limit: pageSize, offset };
    return await client.call(executedHistory, query, options);
  } catch (error) {
    if (error instanceof ExchangeError && isHistoryNotFound(error)) return [];
    throw error;
  }
}
