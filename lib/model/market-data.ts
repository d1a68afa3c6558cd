import type { Decimal } from '../base/decimal.ts';

/** What rests in the book at one price. */
export interface PriceLevel {
  /** In the quote currency. */
  readonly price: Decimal;
  /** In base units. */
  readonly amount: Decimal;
}

/** The resting orders of a market at one time, added up by price; the best price comes first on each side. */
export interface OrderBook {
  readonly timestampMs: number;
  /** Offers to sell, cheapest first. */
  readonly asks: readonly PriceLevel[];
  /** Offers to buy, dearest first. */
  readonly bids: readonly PriceLevel[];
}

/** How far a perpetual market lets an account lever. */
export interface FuturesTerms {
  readonly maxLeverage: number;
  /**
   * Leverage → the largest notional of a position at that leverage, in USDT. Zero: no position is that large, or there is
   * no limit; the exchange does not say which.
   */
  readonly brackets: Readonly<Record<string, Decimal>>;
}

/** How long a candle lasts. */
export const candleIntervals = ['1m', '5m', '15m', '1h', '4h', '1d'] as const;
export type CandleInterval = (typeof candleIntervals)[number];
export const candleMinutes: Readonly<Record<CandleInterval, number>> = {
  '1m': 1,
  '5m': 5,
  '15m': 15,
  '1h': 60,
  '4h': 240,
  '1d': 1440,
};

/** The prices of a market within one interval, in the quote currency. */
export interface Candle {
  readonly beginsAtMs: number;
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
}
