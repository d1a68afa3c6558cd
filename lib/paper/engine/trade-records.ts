import { type Decimal, zero } from '../../base/decimal.ts';
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

/** The trades of a market within some time, added up. Prices are in the quote currency. */
export interface SumOfTrades {
  /** The last price before the first trade. */
  readonly open: Decimal;
  readonly high: Decimal;
  readonly low: Decimal;
  readonly close: Decimal;
  /** In base units. */
  readonly baseVolume: Decimal;
  readonly quoteVolume: Decimal;
}

export interface HourOfTrades extends SumOfTrades {
  /** Hours since 1970. */
  readonly hour: number;
}

export interface MinuteOfTrades extends SumOfTrades {
  /** Minutes since 1970. */
  readonly minute: number;
}

/** Of a time without trades. */
export function sumOfNone(open: Decimal): SumOfTrades {
  return { open, high: open, low: open, close: open, baseVolume: zero, quoteVolume: zero };
}

export function addTrade(
  sum: SumOfTrades,
  { price, amount }: Pick<PublicTrade, 'price' | 'amount'>,
): SumOfTrades {
  const trade = { ...sumOfNone(price), baseVolume: amount, quoteVolume: amount.times(price) };
  return joinSums(sum, trade);
}

/** Of two times that follow one another. */
export function joinSums(first: SumOfTrades, next: SumOfTrades): SumOfTrades {
  return {
    open: first.open,
    high: next.high.gt(first.high) ? next.high : first.high,
    low: next.low.lt(first.low) ? next.low : first.low,
    close: next.close,
    baseVolume: first.baseVolume.plus(next.baseVolume),
    quoteVolume: first.quoteVolume.plus(next.quoteVolume),
  };
}
