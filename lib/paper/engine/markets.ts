import { type Decimal, decimalPlaces, formatDecimal, hundred, parseDecimal } from '../../base/decimal.ts';
import type { Market } from '../../model/market.ts';

/** A market of the paper exchange: the fields of every market, how its trades settle, and its first price. */
export interface PaperMarket extends Market {
  /**
   * A `spot` market has spot trading and, if it is collateral, positions too. A `perpetual` has positions only.
   */
  readonly settlement: 'spot' | 'perpetual';
  readonly startPrice: Decimal;
  /** The base units of the counterparty's first offer on each side of the book. */
  readonly bookDepth: Decimal;
  /** The most leverage that a position can have; 1 where there are no positions. */
  readonly maxLeverage: number;
}

interface MarketRow {
  readonly name: string;
  readonly base: string;
  readonly quote: string;
  readonly amountStep: string;
  readonly priceStep: string;
  readonly minAmount: string;
  readonly makerFeeRate: string;
  readonly takerFeeRate: string;
  readonly startPrice: string;
  readonly bookDepth: string;
  readonly settlement: PaperMarket['settlement'];
  readonly isCollateral: boolean;
  readonly maxLeverage: number;
}

const spotPair = {
  quote: 'USDT',
  makerFeeRate: '0.001',
  takerFeeRate: '0.001',
  settlement: 'spot',
  isCollateral: true,
  maxLeverage: 10,
} as const;

/** Sizes are those of ordinary markets. Prices are round, so that sums are easy to check. */
const rows: readonly MarketRow[] = [
  {
    name: 'BTC_USDT',
    base: 'BTC',
    amountStep: '0.000001',
    priceStep: '0.01',
    minAmount: '0.00001',
    startPrice: '60000',
    bookDepth: '1',
    ...spotPair,
  },
  {
    name: 'ETH_USDT',
    base: 'ETH',
    amountStep: '0.00001',
    priceStep: '0.01',
    minAmount: '0.0001',
    startPrice: '3000',
    bookDepth: '20',
    ...spotPair,
  },
  {
    name: 'SOL_USDT',
    base: 'SOL',
    amountStep: '0.001',
    priceStep: '0.001',
    minAmount: '0.01',
    startPrice: '150',
    bookDepth: '400',
    ...spotPair,
  },
  {
    name: 'BTC_PERP',
    base: 'BTC',
    amountStep: '0.001',
    priceStep: '0.1',
    minAmount: '0.001',
    startPrice: '60000',
    bookDepth: '1',
    quote: 'USDT',
    makerFeeRate: '0.0001',
    takerFeeRate: '0.00035',
    settlement: 'perpetual',
    isCollateral: true,
    maxLeverage: 100,
  },
  // The free demo pair of the live service.
  {
    name: 'DBTC_DUSDT',
    base: 'DBTC',
    amountStep: '0.000001',
    priceStep: '0.01',
    minAmount: '0.00001',
    startPrice: '60000',
    bookDepth: '1',
    ...spotPair,
    quote: 'DUSDT',
    isCollateral: false,
    maxLeverage: 1,
  },
];

function marketOf(row: MarketRow): PaperMarket {
  return {
    name: row.name,
    base: row.base,
    quote: row.quote,
    amountStep: parseDecimal(row.amountStep),
    priceStep: parseDecimal(row.priceStep),
    minAmount: parseDecimal(row.minAmount),
    minTotal: parseDecimal('5.05'),
    maxTotal: parseDecimal('10000000'),
    makerFeeRate: parseDecimal(row.makerFeeRate),
    takerFeeRate: parseDecimal(row.takerFeeRate),
    tradesEnabled: true,
    isCollateral: row.isCollateral,
    isFutures: row.settlement === 'perpetual',
    settlement: row.settlement,
    startPrice: parseDecimal(row.startPrice),
    bookDepth: parseDecimal(row.bookDepth),
    maxLeverage: row.maxLeverage,
  };
}

export const paperMarkets: ReadonlyMap<string, PaperMarket> = new Map(
  rows.map((row) => [row.name, marketOf(row)]),
);

/** Every currency that is traded. */
export const tradedTickers: ReadonlySet<string> = new Set(
  [...paperMarkets.values()].flatMap(({ base, quote }) => [base, quote]),
);

/** @throws RangeError when the paper exchange has no such market */
export function marketNamed(name: string): PaperMarket {
  const market = paperMarkets.get(name);
  if (market === undefined)
    throw new RangeError(
      `the paper exchange has no market "${name}"; it has ${[...paperMarkets.keys()].join(', ')}`,
    );
  return market;
}

/**
 * The position in USDT up to which each leverage holds on a perpetual; zero means without a bound. The live service
 * takes what lies above at leverage 10. The paper exchange publishes the brackets and does not apply them.
 */
export const leverageBrackets: Readonly<Record<string, number>> = {
  1: 0,
  2: 0,
  3: 0,
  5: 0,
  10: 0,
  20: 0,
  50: 5_000_000,
  100: 1_000_000,
};

/** A rate as the wire writes it: 0.001 is `0.1`. */
export function formatAsPercentage(rate: Decimal): string {
  return formatDecimal(rate.times(hundred));
}

/** The market as the public list shows it: precisions are decimal counts as text, fees are percentages. */
export function listMarket(market: PaperMarket): Readonly<Record<string, string | boolean | null>> {
  return {
    name: market.name,
    stock: market.base,
    money: market.quote,
    stockPrec: String(decimalPlaces(market.amountStep)),
    moneyPrec: String(decimalPlaces(market.priceStep)),
    feePrec: '6',
    makerFee: formatAsPercentage(market.makerFeeRate),
    takerFee: formatAsPercentage(market.takerFeeRate),
    minAmount: formatDecimal(market.minAmount),
    minTotal: formatDecimal(market.minTotal),
    maxTotal: market.maxTotal === null ? '0' : formatDecimal(market.maxTotal),
    tradesEnabled: market.tradesEnabled,
    isCollateral: market.isCollateral,
    type: market.settlement === 'spot' ? 'spot' : 'futures',
    isTradFiFutures: false,
    // The delisting time in seconds; null if none is planned.
    delistedAt: null,
  };
}
