import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a spot market order. The amount of a buy is in the quote currency, that of a sell in the base currency. Each
 * request creates another order.
 */
export const spotMarket = defineEndpoint({
  name: 'spot-market',
  method: 'POST',
  path: { documented: '/api/v4/order/market', live: '/api/v4/order/market' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.spot_market,
  result: OrderField,
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/create-market-order',
    readOn: '2026-11-22',
  },
});
