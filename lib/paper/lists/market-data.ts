import { type Decimal, formatDecimal, hundred, zero } from '../../base/decimal.ts';
import { futures } from '../../exchange/endpoints/futures.ts';
import { ticker } from '../../exchange/endpoints/ticker.ts';
import { activityOf } from '../engine/activity.ts';
import { type ExchangeState, lastPriceOf } from '../engine/exchange-state.ts';
import { leverageBrackets, type PaperMarket, paperMarkets } from '../engine/markets.ts';
import { type BookLevel, bookOf } from '../engine/order-book.ts';
import {
  createReadRoute,
  type RequestContext,
  type Route,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { publicEndpoint } from '../requests/served-endpoint.ts';
import { checkNamedMarket } from '../requests/validation.ts';

/**
 * What the markets do, under the wire names of the live service.
 *
 * @see https://docs.whitebit.com/api-reference/market-data/market-activity
 * @see https://docs.whitebit.com/api-reference/market-data/available-futures-markets-list
 */
export const marketData: readonly Route[] = [
  createReadRoute(ticker, (context) => {
    const records = [...paperMarkets.values()].map((market) => [
      market.name,
      describeActivity(context, market),
    ]);
    return succeed(Object.fromEntries(records));
  }),
  createReadRoute(futures, (context) => {
    const perpetuals = [...paperMarkets.values()].filter(({ isFutures }) => isFutures);
    const result = perpetuals.map((market) => describeFutures(context, market));
    return succeed({ success: true, message: null, result });
  }),
  // The only endpoint with the best prices of one market. Independent clients read it.
  createReadRoute(publicEndpoint('v1-ticker', '/v1/public/ticker'), (context) =>
    serveChecked(checkNamedMarket(context.read), (market) =>
      succeed({ success: true, message: '', result: describeOlder(context, market) }),
    ),
  ),
];

function describeActivity({ trading, atMs }: RequestContext, { name }: PaperMarket) {
  const activity = activityOf(trading.state, name, atMs);
  const lastPrice = lastPriceOf(trading.state, name);
  return {
    base_id: 0,
    quote_id: 0,
    last_price: formatDecimal(lastPrice),
    quote_volume: formatDecimal(activity.quoteVolume),
    base_volume: formatDecimal(activity.baseVolume),
    isFrozen: false,
    change: changeOf(activity.open, lastPrice),
  };
}

/** The change in per cent, with two decimals. */
function changeOf(open: Decimal, lastPrice: Decimal): string {
  return formatDecimal(lastPrice.minus(open).times(hundred).div(open).round(2));
}

function bestPricesOf(state: ExchangeState, market: string) {
  const { asks, bids } = bookOf(state, market);
  const priceOf = (level: BookLevel | undefined) => formatDecimal(level?.[0] ?? zero);
  return { bid: priceOf(bids[0]), ask: priceOf(asks[0]) };
}

const fundingMinutes = 480;
const fundingMs = fundingMinutes * 60_000;

/** There is no funding on the paper exchange: its rate is zero. */
function describeFutures({ trading: { state }, atMs }: RequestContext, market: PaperMarket) {
  const { name, base, quote, maxLeverage } = market;
  const { high, low, baseVolume, quoteVolume } = activityOf(state, name, atMs);
  const lastPrice = formatDecimal(lastPriceOf(state, name));
  return {
    ticker_id: name,
    stock_currency: base,
    money_currency: quote,
    last_price: lastPrice,
    stock_volume: formatDecimal(baseVolume),
    money_volume: formatDecimal(quoteVolume),
    ...bestPricesOf(state, name),
    high: formatDecimal(high),
    low: formatDecimal(low),
    product_type: 'Perpetual',
    open_interest: formatDecimal(openInterestOf(state, name)),
    index_price: lastPrice,
    index_name: base,
    index_currency: base,
    funding_rate: '0',
    funding_cap: null,
    funding_floor: null,
    next_funding_rate_timestamp: String((Math.floor(atMs / fundingMs) + 1) * fundingMs),
    brackets: leverageBrackets,
    max_leverage: maxLeverage,
    funding_interval_minutes: fundingMinutes,
  };
}

/** Every contract has a long and a short side. The counterparty holds whichever side the accounts do not. */
function openInterestOf(state: ExchangeState, market: string): Decimal {
  let long = zero;
  let short = zero;
  for (const { collateral } of state.accounts.values())
    for (const { market: held, amount } of collateral.positions.values()) {
      if (held !== market) continue;
      if (amount.gt(zero)) long = long.plus(amount);
      else short = short.minus(amount);
    }
  return long.gt(short) ? long : short;
}

function describeOlder({ trading: { state }, atMs }: RequestContext, { name }: PaperMarket) {
  const { open, high, low, baseVolume, quoteVolume } = activityOf(state, name, atMs);
  const lastPrice = lastPriceOf(state, name);
  return {
    ...bestPricesOf(state, name),
    open: formatDecimal(open),
    high: formatDecimal(high),
    low: formatDecimal(low),
    last: formatDecimal(lastPrice),
    volume: formatDecimal(baseVolume),
    deal: formatDecimal(quoteVolume),
    change: changeOf(open, lastPrice),
  };
}
