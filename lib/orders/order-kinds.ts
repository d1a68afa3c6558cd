import { formatDecimal } from '../base/decimal.ts';
import { quoteInName } from '../model/market.ts';
import { isQuoteSized, kindOfType, type OrderKindName, type OrderRequest } from '../model/order.ts';
import type { OrderSignal } from '../model/signal.ts';
import { limitKind } from './limit.ts';
import { marketKind } from './market.ts';
import type { OrderKind } from './order-kind.ts';
import { stopLimitKind } from './stop-limit.ts';
import { stopMarketKind } from './stop-market.ts';

/** All kinds of orders; a kind that is missing here is a type error. */
const kinds: { readonly [Name in OrderKindName]: OrderKind<Name> } = {
  stop_limit: stopLimitKind,
  limit: limitKind,
  market: marketKind,
  stop_market: stopMarketKind,
};

export const orderKinds: readonly OrderKind[] = Object.values(kinds);

export function kindNamed(name: OrderKindName): OrderKind {
  return kinds[name];
}

/** Whether an order of this signal that is still open must be cancelled: it was to fill at once or not at all. */
export function mustNotRest(signal: OrderSignal): boolean {
  return kindNamed(signal.orderType).mustNotRest(signal);
}

export function isMarketOrder(name: OrderKindName): boolean {
  return name === 'market';
}

/** Whether it waits for its trigger price, and then takes what the book has. */
export function isStopMarket(name: OrderKindName): boolean {
  return name === 'stop_market';
}

const kindNames: Readonly<Record<string, OrderKindName | undefined>> = kindOfType;

/** Whether an order of this type, as the exchange reports it, waits for its trigger price, and then for its limit price. */
export function isStopLimit(type: string): boolean {
  return kindNames[type] === 'stop_limit';
}

/**
 * An order as part of a sentence: `buy 0.01 BTC_USDT at limit 60000`.
 *
 * @param kind what its alert asked for; a guarded market order goes out as a limit order
 */
export function describeOrder(order: OrderRequest, kind: OrderKindName = kindOfType[order.type]): string {
  const { side, amount, market, reduceOnly } = order;
  const size = isQuoteSized(order)
    ? `${market} for ${formatDecimal(amount)} ${quoteInName(market) ?? 'of the quote currency'}`
    : `${formatDecimal(amount)} ${market}`;
  const only = reduceOnly ? ', reduce-only' : '';
  return `${side} ${size} ${kinds[kind].describeOrderPrices(order)}${only}`;
}
