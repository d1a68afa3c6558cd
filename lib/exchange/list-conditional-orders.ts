import type { ConditionalOrder } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { conditionalOrders } from './endpoints/conditional-orders.ts';
import { isWholePage, type Oddity } from './listed.ts';

/** Pairs of orders (OCO), and orders with a planned stop-loss or take-profit (OTO). */
export interface Groups {
  readonly groups: readonly ConditionalOrder[];
  /** False when there is a record that cannot be read, for example of a kind that is not known. */
  readonly isWhole: boolean;
}

/** The largest page that both dialects return. */
const pageSize = 100;

/**
 * Reads every page. A record that moves to the next page meanwhile is read twice and returned once.
 *
 * @param market undefined: all markets
 * @throws ExchangeError when a page cannot be read
 */
export async function listConditionalOrders(
  client: ExchangeClient,
  market: string | undefined,
  options: SendOptions,
): Promise<Groups> {
  const found = new Map<string, ConditionalOrder>();
  const oddities: Oddity[] = [];
  let offset = 0;
  for (;;) {
    const params = { limit: pageSize, offset, ...(market === undefined ? {} : { market }) };
    const { total, ...page } = await client.call(conditionalOrders, params, options);
    for (const record of page.records) found.set(`${record.kind} ${record.id}`, record);
    oddities.push(...page.oddities);
    offset += page.count;
    if (page.count === 0 || offset >= total)
      return { groups: [...found.values()], isWhole: isWholePage({ oddities }) };
  }
}
