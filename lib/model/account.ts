import type { Decimal } from '../base/decimal.ts';
import type { Side } from './order.ts';

/** One trading account and the rules that its owner set for it. */
export interface Account {
  /** As it appears in the webhook URL. */
  readonly name: string;
  /** `dry-run` does everything but send requests to the exchange. */
  readonly mode: 'live' | 'dry-run';
  /** How far beyond the stop price the limit is set when an alert gives none, as a rate (0.001 = 0.1 %). */
  readonly limitOffsetRate: Decimal | null;
  /**
   * How far a limit price may lie beyond its stop price, above it for a buy and below it for a sell, as a
   * rate; null for any distance. A plain limit order has no stop price, so this does not apply to it.
   */
  readonly maxLimitDistanceRate: Decimal | null;
  /** The markets that the account may trade; signals for any other market are denied. */
  readonly markets: Readonly<Record<string, MarketLimits>>;
  readonly maxOrdersPerMinute: number | null;
  readonly maxSignalsPerMinute: number | null;
}

export interface MarketLimits {
  readonly sides: readonly Side[];
  /** The largest order, in base units. */
  readonly maxAmount: Decimal | null;
  /** The largest notional of an order, in the quote currency. */
  readonly maxNotional: Decimal | null;
}
