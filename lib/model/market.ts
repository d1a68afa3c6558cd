import type { Decimal } from '../base/decimal.ts';

/** The rules of one market, as the exchange states them. Fees are rates (0.001 = 0.1 %), not percentages. */
export interface Market {
  /** `<BASE>_<QUOTE>`, for example `BTC_USDT`; perpetuals end in `_PERP`. */
  readonly name: string;
  readonly base: string;
  readonly quote: string;
  /** The smallest difference between two amounts. */
  readonly amountStep: Decimal;
  /** The smallest difference between two prices. */
  readonly priceStep: Decimal;
  readonly minAmount: Decimal;
  /** The smallest notional of an order, in the quote currency. */
  readonly minTotal: Decimal;
  /** The largest notional of an order, in the quote currency; null when there is no such limit. */
  readonly maxTotal: Decimal | null;
  readonly makerFeeRate: Decimal;
  readonly takerFeeRate: Decimal;
  readonly tradesEnabled: boolean;
  /** Whether the collateral account can trade it. */
  readonly isCollateral: boolean;
  /** A perpetual. It has no spot trading. */
  readonly isFutures: boolean;
  /** When the exchange plans to take it off, as far as it has announced that; the plan may change. */
  readonly delistedAtMs?: number;
}

/** The quote currency that the name of a spot pair ends with; null for a perpetual, whose name has none. */
export function quoteInName(market: string): string | null {
  const last = market.split('_').at(-1) ?? '';
  return last === 'PERP' || last === market ? null : last;
}

export interface Currencies {
  readonly base: string;
  readonly quote: string;
}

/** Perpetual markets end so, and no other market does. Only they trade on futures, and they trade nowhere else. */
export const perpetualSuffix = '_PERP';

export function isPerpetualName(market: string): boolean {
  return market.endsWith(perpetualSuffix);
}

/**
 * The currencies that the name of a market says. A perpetual is quoted in USDT.
 *
 * @see https://docs.whitebit.com/api-reference/market-data/market-info
 */
export function currenciesInName(market: string): Currencies {
  const [base = market, quote] = market.split('_');
  return { base, quote: quote === undefined || quote === 'PERP' ? 'USDT' : quote };
}

/** The exchange's play money: what is dealt in it is worth nothing. */
export const playMoney = 'DUSDT';

/** Currencies that are worth a dollar. */
export const dollars: ReadonlySet<string> = new Set(['USDT', 'USDC', 'USD', playMoney]);
