import type { ExchangeClient, PreparedRequest } from '../exchange/client.ts';
import type { Dialect } from '../exchange/dialect.ts';
import type { Endpoint } from '../exchange/endpoint.ts';
import { limit } from '../exchange/endpoints/limit.ts';
import { market } from '../exchange/endpoints/market.ts';
import { spotLimit } from '../exchange/endpoints/spot-limit.ts';
import { spotMarket } from '../exchange/endpoints/spot-market.ts';
import { spotStockMarket } from '../exchange/endpoints/spot-stock-market.ts';
import { spotStopLimit } from '../exchange/endpoints/spot-stop-limit.ts';
import { spotStopMarket } from '../exchange/endpoints/spot-stop-market.ts';
import { stopLimit } from '../exchange/endpoints/stop-limit.ts';
import { stopMarket } from '../exchange/endpoints/stop-market.ts';
import type { OrderField } from '../exchange/fields.ts';
import { type Order, type OrderRequest, type OrderType, orderTypes } from '../model/order.ts';
import { orderSchemas } from '../model/order-schemas.ts';

/** An endpoint that creates orders. Its parameters are the fields of the order. */
export type CreateEndpoint = Endpoint<(typeof orderSchemas)[OrderType], typeof OrderField>;

/** The endpoint of each type. One that is missing here is a type error. */
const endpoints: Readonly<Record<OrderType, CreateEndpoint>> = {
  stop_limit: stopLimit,
  limit: limit,
  market: market,
  stop_market: stopMarket,
  spot_limit: spotLimit,
  spot_market: spotMarket,
  spot_stock_market: spotStockMarket,
  spot_stop_limit: spotStopLimit,
  spot_stop_market: spotStopMarket,
};

export function endpointOfType(type: OrderType): CreateEndpoint {
  return endpoints[type];
}

/** Whether the dialect has orders of this type. */
export function isCarried(type: OrderType, dialect: Dialect): boolean {
  return dialect === 'live' || endpoints[type].availability !== 'live-only';
}

/** The types that a dialect has. */
export function carriedTypes(dialect: Dialect): readonly OrderType[] {
  return orderTypes.filter((type) => isCarried(type, dialect));
}

/** Builds the request that places the order; nothing is sent yet. */
export function prepareOrder(
  client: ExchangeClient,
  { type, ...fields }: OrderRequest,
): PreparedRequest<Order> {
  return client.prepare(endpoints[type], fields);
}

/** The fields that requests and responses share. Only what was asked for is compared. */
const comparable = [
  'market',
  'side',
  'amount',
  'price',
  'activationPrice',
  'reduceOnly',
  'positionSide',
  'clientOrderId',
] as const satisfies readonly (keyof OrderRequest & keyof Order)[];
export type ComparedField = (typeof comparable)[number];

/** The fields of an order of this type that must be the same in the request and in the response, if it has them. */
export function comparedFields(type: OrderType): readonly ComparedField[] {
  return comparable.filter((name) => name in orderSchemas[type].shape);
}
