import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a spot limit order. An order that crosses the market fills at once. Each request creates another order.
 */
export const spotLimit = defineEndpoint({
  name: 'spot-limit',
  method: 'POST',
  path: { documented: '/api/v4/order/new', live: '/api/v4/order/new' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.spot_limit,
  result: OrderField,
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/create-limit-order',
    readOn: '2026-11-22',
  },
});
