import type { Deal } from '../model/holdings.ts';
import type { Order } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import type { ResultOf } from './endpoint.ts';
import { endedOrder } from './endpoints/ended-order.ts';
import { executedHistory } from './endpoints/executed-history.ts';
import { openOrder } from './endpoints/open-order.ts';
import { orderDeals } from './endpoints/order-deals.ts';
import { isWholePage } from './listed.ts';

/** An order that has ended, as the history lists it. */
export type EndedOrder = ResultOf<typeof endedOrder>['records'][number];

/** A fill, and the order and market it belongs to. */
export type AccountDeal = Deal & { readonly orderId: number; readonly market: string };

/** A fill in the list of one order's fills. */
export type OrderDeal = Omit<Deal, 'side' | 'orderId' | 'market' | 'clientOrderId'>;

/** The exchange advises against larger pages of these lists. */
const pageSize = 100;
/** A new record moves the others towards later pages. Pages overlap, so that a record that is removed skips none. */
const overlap = 10;
const mostPages = 10;

/**
 * Reads the orders of an account that ended since a time, in all markets, newest first. Of a very long list only the
 * newest are read. The list may lag behind an end by seconds, and a partner's list has no cancelled orders. A record that cannot
 * be read is left out, so what is missing here may have ended all the same.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listEndedOrders(
  client: ExchangeClient,
  fromMs: number,
  options: SendOptions,
): Promise<readonly EndedOrder[]> {
  return await readEnded(client, { startDate: toSeconds(fromMs) }, options, () => true);
}

/**
 * Reads the orders of an account that ended since a time, in all markets, without asking for dates: it is not documented
 * whether those of this list are of the end or of the beginning. Nearly always one page is enough.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listNewestEnded(
  client: ExchangeClient,
  sinceMs: number,
  options: SendOptions,
): Promise<readonly EndedOrder[]> {
  return await readEnded(client, {}, options, (orders) =>
    orders.some(({ endedAtMs }) => endedAtMs >= sinceMs),
  );
}

/** @param goesOn whether the page after one with these orders is read, too */
async function readEnded(
  client: ExchangeClient,
  dates: { readonly startDate?: number },
  options: SendOptions,
  goesOn: (orders: readonly EndedOrder[]) => boolean,
): Promise<readonly EndedOrder[]> {
  const found = new Map<number, EndedOrder>();
  await readPages(async (page) => {
    const { records, count } = await client.call(endedOrder, { ...dates, ...page }, options);
    for (const order of records) found.set(order.orderId, order);
    return goesOn(records) ? count : 0;
  });
  return [...found.values()];
}

/**
 * Reads the fills of an account since a time, in all markets, newest first. Of a very long list only the newest are read.
 * The list may lag behind a fill by seconds. A fill that cannot be read is left out: the amounts of the orders show that it
 * is missing.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listAccountDeals(
  client: ExchangeClient,
  fromMs: number,
  options: SendOptions,
): Promise<readonly AccountDeal[]> {
  const found = new Map<string, AccountDeal>();
  await readPages(async (page) => {
    const listed = await client.call(executedHistory, { startDate: toSeconds(fromMs), ...page }, options);
    for (const deal of listed.records) {
      const { orderId, market } = deal;
      if (orderId !== undefined && market !== undefined)
        found.set(`${market} ${deal.id} ${orderId}`, { ...deal, orderId, market });
    }
    return listed.count;
  });
  return [...found.values()];
}

/** What the exchange's lists have of one order. Null: not in that list. */
export interface ListedWhole {
  readonly open: Order | null;
  readonly ended: EndedOrder | null;
  /** All its fills, as far as the list of fills shows them. */
  readonly deals: readonly OrderDeal[];
  /** Whether all records were read: only then an order that is in no list is in none. */
  readonly isWhole: boolean;
}

/**
 * Reads one order and all its fills, however old they are. The open orders come first: an order that ends in between is
 * then in both lists, not in neither.
 *
 * @throws ExchangeError when a list cannot be read
 */
export async function readListedOrder(
  client: ExchangeClient,
  { market, orderId }: { readonly market: string; readonly orderId: number },
  options: SendOptions,
): Promise<ListedWhole> {
  const open = await client.call(openOrder, { market, orderId }, options);
  const ended = await client.call(endedOrder, { market, orderId }, options);
  const { deals, isWhole } = await listOrderDeals(client, orderId, options);
  return {
    open: open.records.find((order) => order.orderId === orderId) ?? null,
    ended: ended.records.find((order) => order.orderId === orderId && order.market === market) ?? null,
    deals,
    isWhole: isWhole && isWholePage(open) && isWholePage(ended),
  };
}

/**
 * Reads the fills of one order, however old they are. The list may lag behind a fill by seconds.
 *
 * @throws ExchangeError when a page cannot be read
 */
export async function listOrderDeals(
  client: ExchangeClient,
  orderId: number,
  options: SendOptions,
): Promise<Pick<ListedWhole, 'deals' | 'isWhole'>> {
  const deals = new Map<number, OrderDeal>();
  let isWhole = true;
  await readPages(async (page) => {
    const listed = await client.call(orderDeals, { orderId, ...page }, options);
    for (const deal of listed.records) deals.set(deal.id, deal);
    isWhole &&= isWholePage(listed);
    return listed.count;
  }, mostPagesOfOrder);
  return { deals: [...deals.values()], isWhole };
}

/** Ten thousand fills: no order of a strategy has more. */
const mostPagesOfOrder = 112;

async function readPages(
  readPage: (page: { readonly limit: number; readonly offset: number }) => Promise<number>,
  most: number = mostPages,
): Promise<void> {
  for (let page = 0; page < most; page += 1)
    if ((await readPage({ limit: pageSize, offset: page * (pageSize - overlap) })) < pageSize) return;
}

function toSeconds(timeMs: number): number {
  return Math.max(1, Math.floor(timeMs / 1000));
}
