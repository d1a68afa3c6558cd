import type { Decimal } from '../base/decimal.ts';
import type { Side } from './order.ts';

/** One trading account and the rules its owner set for it. */
export interface Account {
  /** As it appears in the webhook URL. */
  readonly name: string;
  /** `dry-run` goes all of the way but the wire. */
  readonly mode: 'live' | 'dry-run';
  /** How far beyond the stop price the limit is set when an alert gives none, as a rate (0.001 = 0.1 %). */
  readonly limitOffsetRate: Decimal | null;
  /**
   * How far a limit price may lie beyond its stop price on the side that costs, above it for a buy and below it for a
   * sell, as a rate; null for any distance. A plain limit order names no price that its limit could be held against, and
   * is not held against any.
   */
  readonly maxLimitDistanceRate: Decimal | null;
  /** Markets the account may trade; any other is denied. */
  readonly markets: Readonly<Record<string, MarketLimits>>;
  readonly maxOrdersPerMinute: number | null;
  readonly maxSignalsPerMinute: number | null;
}

export interface MarketLimits {
  readonly sides: readonly Side[];
  /** The largest order, in base units. */
  readonly maxAmount: Decimal | null;
  /** The most an order may be worth, in the quote currency. */
  readonly maxNotional: Decimal | null;
}
