import { type Decimal, one, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { ticker } from '../exchange/endpoints/ticker.ts';
import { currenciesInName, playMoney } from '../model/market.ts';

/** Prices in USDT, for limits that add up several markets. The ticker is read once, and only when it is needed. */
export interface UsdtPrices {
  /**
   * What one unit of a quote currency is worth in USDT: one for USDT, nothing for play money, otherwise the last price of its
   * pair with USDT; null when there is no such pair.
   *
   * @throws ExchangeError when the exchange cannot be read
   */
  rateOf(quote: string): Promise<Decimal | null>;
  /**
   * The last price of a market in USDT; null when it is not known.
   *
   * @throws ExchangeError when the exchange cannot be read
   */
  lastOf(market: string): Promise<Decimal | null>;
}

export function createUsdtPrices(client: ExchangeClient, options: SendOptions): UsdtPrices {
  let reading: Promise<Readonly<Record<string, Decimal>>> | null = null;

  async function priceOf(market: string): Promise<Decimal | null> {
    reading ??= client.call(ticker, {}, options);
    const prices = await reading;
    return Object.hasOwn(prices, market) ? (prices[market] ?? null) : null;
  }

  async function rateOf(quote: string): Promise<Decimal | null> {
    if (quote === playMoney) return zero;
    return quote === 'USDT' ? one : await priceOf(`${quote}_USDT`);
  }

  return {
    rateOf,
    async lastOf(market) {
      const [price, rate] = [await priceOf(market), await rateOf(currenciesInName(market).quote)];
      return price === null || rate === null ? null : price.times(rate);
    },
  };
}
