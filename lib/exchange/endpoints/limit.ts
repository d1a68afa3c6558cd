import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a collateral limit order, with take-profit and stop-loss if given. An order that crosses the market
 * fills at once. Each request can create another order.
 */
export const limit = defineEndpoint({
  name: 'limit',
  method: 'POST',
  path: { documented: '/api/v4/order/collateral/limit', live: '/api/v4/order/collateral/limit' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.limit,
  result: OrderField,
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-limit-order',
    readOn: '2026-11-22',
  },
});
