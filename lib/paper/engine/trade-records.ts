import type { Decimal } from '../../base/decimal.ts';
import type { Side } from '../../model/order.ts';

/** One fill of an order, before it is settled. */
export interface UnsettledFill {
  /** In base units. */
  readonly amount: Decimal;
  readonly price: Decimal;
  readonly role: 'maker' | 'taker';
  readonly feeRate: Decimal;
  readonly atMs: number;
}

/** One fill of an account's order. */
export interface PaperDeal {
  readonly dealId: number;
  readonly orderId: number;
  /** Empty when the order carries none. */
  readonly clientOrderId: string;
  readonly account: string;
  readonly market: string;
  readonly side: Side;
  readonly role: 'maker' | 'taker';
  /** In base units. */
  readonly amount: Decimal;
  readonly price: Decimal;
  readonly notional: Decimal;
  /** In units of `feeAsset`. */
  readonly fee: Decimal;
  readonly feeAsset: string;
  readonly atMs: number;
}

/** One trade of a market, as everybody sees it. */
export interface PublicTrade {
  readonly tradeId: number;
  readonly price: Decimal;
  /** In base units. */
  readonly amount: Decimal;
  /** The side of the taker. */
  readonly side: Side;
  readonly atMs: number;
}

/** The trades of a market within one hour, added up. */
export interface HourOfTrades {
  /** Hours since 1970. */
  readonly hour: number;
  /** The last price before the first trade of the hour. */
  readonly open: Decimal;
  high: Decimal;
  low: Decimal;
  close: Decimal;
  /** In base units. */
  baseVolume: Decimal;
  quoteVolume: Decimal;
}

/** The prices of a market within one minute. */
export interface MinuteOfTrades {
  /** Minutes since 1970. */
  readonly minute: number;
  /** The last price before the first trade of the minute. */
  readonly open: Decimal;
  high: Decimal;
  low: Decimal;
  close: Decimal;
  /** In base units. */
  baseVolume: Decimal;
  quoteVolume: Decimal;
}
