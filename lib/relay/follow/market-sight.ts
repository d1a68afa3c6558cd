import type { Decimal } from '../../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../../exchange/client.ts';
import { markets as marketsEndpoint } from '../../exchange/endpoints/markets.ts';
import type { Market } from '../../model/market.ts';
import { readLastPrices } from '../execute/judge-trigger.ts';

/** What decides whether a stop-loss can be placed in a market. */
export interface MarketSight {
  /** Null: not known. */
  readonly last: Decimal | null;
  /** Null: not known. */
  readonly rules: Pick<Market, 'amountStep' | 'minAmount' | 'minTotal'> | null;
}

/** Reads it of all markets, by two requests. What cannot be read is not known: it must hold no alarm back. */
export async function readSights(
  client: ExchangeClient,
  options: SendOptions,
): Promise<(market: string) => MarketSight> {
  const [lastOf, listed] = await Promise.all([
    readLastPrices(client, options).catch(() => () => null),
    client.call(marketsEndpoint, {}, options).catch(() => []),
  ]);
  return (market) => ({
    last: lastOf(market),
    rules: listed.find(({ name }) => name === market) ?? null,
  });
}
