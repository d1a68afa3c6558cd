import type { Order } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { openOrder } from './endpoints/open-order.ts';
import { type HiddenMarkets, hiddenIn, type Oddity } from './listed.ts';

const pageSize = 100;
/**
 * When an order ends while the pages are read, later orders move up. Pages overlap so that none of them is
 * skipped.
 */
const overlap = 10;
const mostPages = 20;

/** The open orders of a market or of an account. */
export interface OpenOrders {
  readonly orders: readonly Order[];
  /** False when there are more orders than were read: too many, or records that cannot be read. */
  readonly isWhole: boolean;
  /** Where an order may be open that could not be read. */
  readonly hidden: HiddenMarkets;
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
  const oddities: Oddity[] = [];
  for (let page = 0; page < mostPages; page += 1) {
    const offset = page * (pageSize - overlap);
    const params = { ...(market === null ? {} : { market }), limit: pageSize, offset };
    const listed = await client.call(openOrder, params, options);
    for (const order of listed.records) found.set(order.orderId, order);
    oddities.push(...listed.oddities);
    if (listed.count < pageSize) return describe(found, oddities, true);
  }
  return describe(found, oddities, false);
}

function describe(
  found: ReadonlyMap<number, Order>,
  oddities: readonly Oddity[],
  hasEnd: boolean,
): OpenOrders {
  const hidden = hiddenIn(oddities);
  return { orders: [...found.values()], isWhole: hasEnd && hidden.length === 0, hidden };
}
