import {
  ceilToStep,
  type Decimal,
  floorToStep,
  formatDecimal,
  parseDecimal,
  zero,
} from '../../base/decimal.ts';
import { orderBook } from '../../exchange/endpoints/order-book.ts';
import { sides } from '../../model/order.ts';
import { publicTradesOf } from '../engine/deals.ts';
import type { PaperMarket } from '../engine/markets.ts';
import { type BookLevel, bookOf, mergeLevels } from '../engine/order-book.ts';
import type { RefusalName } from '../engine/refusals.ts';
import type { PublicTrade } from '../engine/trade-records.ts';
import {
  createReadRoute,
  type Reply,
  type RequestContext,
  type Route,
  refuse,
  serveChecked,
  succeed,
} from '../requests/request-context.ts';
import { publicEndpoint } from '../requests/served-endpoint.ts';
import { checkNamedMarket } from '../requests/validation.ts';

/**
 * What rests and what trades in one market, under the wire names of the live service.
 *
 * @see https://docs.whitebit.com/api-reference/market-data/orderbook
 * @see https://docs.whitebit.com/api-reference/market-data/recent-trades
 */
export const bookLists: readonly Route[] = [
  createReadRoute(orderBook, serveOrderBook),
  createReadRoute(publicEndpoint('trades', '/v4/public/trades/{market}'), serveTrades),
];

const mostLevels = 100;
const coarsestLevel = 10;

function serveOrderBook(context: RequestContext): Reply {
  const { read, atMs, trading } = context;
  return serveChecked(checkNamedMarket(read), (market) => {
    const limit = readCount(read('limit'), mostLevels, 'book_limit_not_integer');
    if (typeof limit === 'string') return refuse(limit);
    const level = readCount(read('level'), 0, 'book_level_not_integer');
    if (typeof level === 'string') return refuse(level);
    if (limit > mostLevels) return refuse('book_limit_too_big');
    if (level > coarsestLevel) return refuse('book_level_not_integer');
    const { asks, bids } = bookOf(trading.state, market.name);
    const step = stepOf(market, level);
    const write = (levels: readonly BookLevel[]) =>
      levels.slice(0, limit === 0 ? mostLevels : limit).map((pair) => pair.map(formatDecimal));
    return succeed({
      ticker_id: market.name,
      timestamp: Math.floor(atMs / 1000),
      asks: write(roundLevels(asks, (price) => ceilToStep(price, step))),
      bids: write(roundLevels(bids, (price) => floorToStep(price, step))),
    });
  });
}

/** A parameter of a query is a text. */
function readCount(value: unknown, ifAbsent: number, refusal: RefusalName): number | RefusalName {
  if (value === undefined) return ifAbsent;
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : refusal;
}

/** Each level of aggregation is ten times as coarse as the one before. In kind: the widths are not published. */
function stepOf({ priceStep }: PaperMarket, level: number): Decimal {
  return priceStep.times(parseDecimal(`1e${level}`));
}

function roundLevels(levels: readonly BookLevel[], round: (price: Decimal) => Decimal): readonly BookLevel[] {
  const rounded = levels.map(([price, amount]) => ({ price: round(price), amount }));
  return mergeLevels(rounded.filter(({ price }) => price.gt(zero)));
}

function serveTrades({ read, trading }: RequestContext): Reply {
  return serveChecked(checkNamedMarket(read), ({ name }) => {
    const side = read('type');
    if (side !== undefined && !(sides as readonly unknown[]).includes(side))
      return refuse('trade_type_unknown');
    const trades = publicTradesOf(trading.state, name);
    return succeed(trades.filter((trade) => side === undefined || trade.side === side).map(describeTrade));
  });
}

/** The list calls the base currency "quote" and the quote currency "base": captures agree on it. */
function describeTrade({ tradeId, price, amount, side, atMs }: PublicTrade) {
  return {
    tradeID: tradeId,
    price: formatDecimal(price),
    quote_volume: formatDecimal(amount),
    base_volume: formatDecimal(amount.times(price)),
    trade_timestamp: Math.floor(atMs / 1000),
    type: side,
    rpi: false,
  };
}
