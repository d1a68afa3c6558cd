import type { Clock } from '../base/clock.ts';
import type { ExchangeClient } from '../exchange/client.ts';
import { markets as marketsEndpoint } from '../exchange/endpoints/markets.ts';
import type { Market } from '../model/market.ts';

/** The rules of every market, as the exchange states them. */
export interface MarketCatalogue {
  /**
   * The market's rules; null when the exchange lists no such market.
   *
   * @throws ExchangeError when they were never read and cannot be read now
   */
  find(name: string): Promise<Market | null>;
}

/** Precision and minima change rarely; an outdated one is refused by the exchange, never wrongly filled. */
const maximumAgeMs = 10 * 60_000;

/**
 * Reads the markets at first use and again every ten minutes; keeps the last copy while the exchange is silent.
 *
 * @param timeoutMs how long one reading may hold a signal up
 */
export function createMarketCatalogue(
  client: ExchangeClient,
  clock: Clock,
  timeoutMs: number,
): MarketCatalogue {
  let known: { readonly readAtMs: number; readonly markets: ReadonlyMap<string, Market> } | null = null;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const list = await client.call(marketsEndpoint, {}, { timeoutMs });
    known = { readAtMs: clock.nowMs(), markets: new Map(list.map((market) => [market.name, market])) };
  }

  /** Signals of many markets that wake up together read the list once. */
  function readOnce(): Promise<void> {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  }

  return {
    async find(name) {
      if (known === null) await readOnce();
      else if (clock.nowMs() - known.readAtMs > maximumAgeMs) await readOnce().catch(() => undefined);
      return known?.markets.get(name) ?? null;
    },
  };
}
