import { type Decimal, decimalPlaces, formatDecimal, parseDecimal } from '../base/decimal.ts';
import type { Market } from '../model/market.ts';

/** A market of the paper exchange: the fields of every market, how its trades settle, and its first price. */
export interface PaperMarket extends Market {
  /**
   * `spot` trades exchange base for quote. A `perpetual` has a signed position with margin in the quote
   * currency.
   */
  readonly settlement: 'spot' | 'perpetual';
  readonly startPrice: Decimal;
}

interface MarketRow {
  readonly name: string;
  readonly base: string;
  readonly amountStep: string;
  readonly priceStep: string;
  readonly minAmount: string;
  readonly makerFeeRate: string;
  readonly takerFeeRate: string;
  readonly startPrice: string;
  readonly settlement: PaperMarket['settlement'];
}

const spotFees = { makerFeeRate: '0.001', takerFeeRate: '0.001', settlement: 'spot' } as const;

/** Sizes are those of ordinary markets. Prices are round, so that sums are easy to check. */
const rows: readonly MarketRow[] = [
  {
    name: 'BTC_USDT',
    base: 'BTC',
    amountStep: '0.000001',
    priceStep: '0.01',
    minAmount: '0.00001',
    startPrice: '60000',
    ...spotFees,
  },
  {
    name: 'ETH_USDT',
    base: 'ETH',
    amountStep: '0.00001',
    priceStep: '0.01',
    minAmount: '0.0001',
    startPrice: '3000',
    ...spotFees,
  },
  {
    name: 'SOL_USDT',
    base: 'SOL',
    amountStep: '0.001',
    priceStep: '0.001',
    minAmount: '0.01',
    startPrice: '150',
    ...spotFees,
  },
  {
    name: 'BTC_PERP',
    base: 'BTC',
    amountStep: '0.001',
    priceStep: '0.1',
    minAmount: '0.001',
    startPrice: '60000',
    makerFeeRate: '0.0001',
    takerFeeRate: '0.00035',
    settlement: 'perpetual',
  },
];

function marketOf(row: MarketRow): PaperMarket {
  return {
    name: row.name,
    base: row.base,
    quote: 'USDT',
    amountStep: parseDecimal(row.amountStep),
    priceStep: parseDecimal(row.priceStep),
    minAmount: parseDecimal(row.minAmount),
    minTotal: parseDecimal('5.05'),
    maxTotal: parseDecimal('10000000'),
    makerFeeRate: parseDecimal(row.makerFeeRate),
    takerFeeRate: parseDecimal(row.takerFeeRate),
    tradesEnabled: true,
    isCollateral: true,
    isFutures: row.settlement === 'perpetual',
    settlement: row.settlement,
    startPrice: parseDecimal(row.startPrice),
  };
}

export const paperMarkets: ReadonlyMap<string, PaperMarket> = new Map(
  rows.map((row) => [row.name, marketOf(row)]),
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

/** Fees and changes are percentages on the wire. */
export const hundred = parseDecimal('100');

/** The market as the public list shows it: precisions are decimal counts as text, fees are percentages. */
export function listMarket(market: PaperMarket): Readonly<Record<string, string | boolean | null>> {
  return {
    name: market.name,
    stock: market.base,
    money: market.quote,
    stockPrec: String(decimalPlaces(market.amountStep)),
    moneyPrec: String(decimalPlaces(market.priceStep)),
    feePrec: '6',
    makerFee: formatDecimal(market.makerFeeRate.times(hundred)),
    takerFee: formatDecimal(market.takerFeeRate.times(hundred)),
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
