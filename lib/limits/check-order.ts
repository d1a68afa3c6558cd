import { type Decimal, formatDecimal, formatPercent, one } from '../base/decimal.ts';
import type { Dialect } from '../exchange/dialect.ts';
import type { Account, MarketLimits, TradingGround } from '../model/account.ts';
import {
  isMarkedReducing,
  isSpotType,
  kindOfType,
  type OrderKindName,
  type OrderRequest,
  type SizedOrder,
} from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { Signal } from '../model/signal.ts';
import { isMarketOrder, kindNamed } from '../orders/order-kinds.ts';
import { carriedTypes } from '../orders/order-types.ts';

/**
 * Denies the signal while the kill switch of its account is on.
 *
 * @param pause null while the account runs
 */
export function checkPause(
  pause: { readonly sinceMs: number; readonly reason: string } | null,
): Denial | null {
  if (pause === null) return null;
  const since = new Date(pause.sinceMs).toISOString();
  return {
    rule: 'paused',
    limit: 'running',
    actual: `paused since ${since}`,
    message: `the account is paused since ${since}: ${pause.reason}; resume it to trade again (npx relay resume)`,
  };
}

/**
 * Denies a signal whose market the account may not trade, or an order on a side that it may not trade there. Every position
 * may be reduced; on spot there is none. What a market order does to the position is not known yet: `checkOrder` judges its
 * side.
 *
 * @see DECISIONS 155
 */
export function checkMarket(signal: Signal, account: Account): Denial | null {
  const limits = limitsOf(account, signal.market);
  if (limits === null) return denyMarket(signal.market, account);
  if (signal.action !== 'order') return null;
  if (limits.tradesOn !== 'spot' && (isMarkedReducing(signal) || isMarketOrder(signal.orderType)))
    return null;
  return checkSide(signal, limits, account);
}

function checkSide(
  { side, market }: Pick<OrderRequest, 'side' | 'market'>,
  { sides }: MarketLimits,
  { name }: Account,
): Denial | null {
  if (sides.includes(side)) return null;
  const limit = sides.join(', ') || 'none';
  return {
    rule: 'side_not_allowed',
    limit,
    actual: side,
    message: `account ${name} may ${limit} in ${market}, not ${side}; extend its sides in relay.config.ts if it should`,
  };
}

/**
 * Denies a sized order that exceeds the account's limits; a value equal to a limit is allowed. One that only reduces may be
 * as large as the position, and its price is checked for errors all the same.
 *
 * @param reduces whether an order that does not say so only reduces the position of the moment; nothing is one on spot, where
 * nobody can tell the coins of a strategy from savings
 * @see DECISIONS 129
 */
export function checkOrder(
  { order, baseAmount, notional }: SizedOrder,
  account: Account,
  reduces = false,
): Denial | null {
  const limits = limitsOf(account, order.market);
  if (limits === null) return denyMarket(order.market, account);
  if (isMarkedReducing(order) || (reduces && limits.tradesOn !== 'spot'))
    return checkLimitDistance(order, account);
  return (
    checkSide(order, limits, account) ??
    checkMost('maxAmount', baseAmount, limits.maxAmount, order.market) ??
    checkMost('maxNotional', notional, limits.maxNotional, order.market) ??
    checkLimitDistance(order, account)
  );
}

/** Denies an order of a kind that the configured dialect does not have where the market trades. */
export function checkDialect(kind: OrderKindName, tradesOn: TradingGround, dialect: Dialect): Denial | null {
  const isOnSpot = tradesOn === 'spot';
  const carried = carriedTypes(dialect);
  if (carried.some((type) => kindOfType[type] === kind && isSpotType(type) === isOnSpot)) return null;
  const limit = carried.map((type) => kindOfType[type]).join(', ');
  const asked = `${kindNamed(kind).title}${isOnSpot ? ' on spot' : ''}`;
  return {
    rule: 'order_type_not_in_dialect',
    limit,
    actual: isOnSpot ? `${kind} on spot` : kind,
    message: `the dialect "${dialect}" has ${limit} on margin and futures, and no ${asked}; send an order type that it has, or set the exchange's dialect in relay.config.ts to "live" if that is what the exchange speaks`,
  };
}

/**
 * The denial of an order that exceeds the account's rate of orders.
 *
 * @param count orders of the last minute, this one included
 * @param limit orders the account may place in any minute
 */
export function denyOrderRate(count: number, limit: number): Denial {
  return {
    rule: 'max_orders_per_minute',
    limit: String(limit),
    actual: String(count),
    message: `this would be order ${count} within a minute, and the account may place ${limit}; slow the alerts down, or raise maxOrdersPerMinute`,
  };
}

/**
 * `hasOwn`, because a market may be named like a property that every object inherits.
 *
 * @see DECISIONS 78
 */
export function limitsOf(account: Account, market: string): MarketLimits | null {
  return Object.hasOwn(account.markets, market) ? (account.markets[market] ?? null) : null;
}

export function denyMarket(market: string, account: Account): Denial {
  const limit = Object.keys(account.markets).join(', ') || 'none';
  return {
    rule: 'market_not_allowed',
    limit,
    actual: market,
    message: `account ${account.name} may trade ${limit}, not ${market}; add it to the account's markets in relay.config.ts if it should`,
  };
}

/**
 * Denies a limit price too far above the reference price of a buy, or too far below that of a sell: with a
 * typing error there, the order could fill at any price. An error on the other side only prevents the fill.
 */
function checkLimitDistance(order: OrderRequest, account: Account): Denial | null {
  const rate = account.maxLimitDistanceRate;
  const asked = kindNamed(kindOfType[order.type]).limitDistance(order);
  if (rate === null || asked === null) return null;
  const { side, market } = order;
  const { limitPrice, reference, referenceName } = asked;
  const furthest = reference.times(side === 'buy' ? one.plus(rate) : one.minus(rate));
  if (side === 'buy' ? limitPrice.lte(furthest) : limitPrice.gte(furthest)) return null;
  const limit = formatDecimal(furthest);
  const actual = formatDecimal(limitPrice);
  const most = side === 'buy' ? `may be ${limit} at most` : `must be ${limit} at least`;
  const distance = `${formatPercent(rate)} ${side === 'buy' ? 'above' : 'below'} its ${referenceName} ${formatDecimal(reference)}`;
  const message = `the limit price of a ${side} in ${market} ${most}, ${distance}, and is ${actual}; correct the alert's prices, or raise maxLimitDistance of account ${account.name} in relay.config.ts`;
  return { rule: 'max_limit_distance', limit, actual, message };
}

const mostRules = {
  maxAmount: { rule: 'max_amount', what: 'an amount' },
  maxNotional: { rule: 'max_notional', what: 'the notional of an order' },
};

/** @param setting its name in relay.config.ts */
function checkMost(
  setting: keyof typeof mostRules,
  value: Decimal,
  most: Decimal | null,
  market: string,
): Denial | null {
  const { rule, what } = mostRules[setting];
  if (most === null || value.lte(most)) return null;
  const limit = formatDecimal(most);
  const actual = formatDecimal(value);
  const message = `${what} in ${market} may be ${limit} at most, and is ${actual}; lower the size, or raise ${setting} of ${market} in relay.config.ts`;
  return { rule, limit, actual, message };
}
