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
