import type { ConditionalOrder } from '../model/order.ts';
import type { ExchangeClient, SendOptions } from './client.ts';
import { conditionalOrders } from './endpoints/conditional-orders.ts';

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
): Promise<readonly ConditionalOrder[]> {
  const found = new Map<string, ConditionalOrder>();
  let offset = 0;
  for (;;) {
    const params = { limit: pageSize, offset, ...(market === undefined ? {} : { market }) };
    const { records, total } = await client.call(conditionalOrders, params, options);
    for (const record of records) found.set(`${record.kind} ${record.id}`, record);
    offset += records.length;
    if (records.length === 0 || offset >= total) return [...found.values()];
  }
}
