import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a spot order that becomes a market order at its trigger price. The amount of a buy is in the quote currency,
 * that of a sell in the base currency. Each request creates another order.
 */
export const spotStopMarket = defineEndpoint({
  name: 'spot-stop-market',
  method: 'POST',
  path: { documented: '/api/v4/order/stop_market', live: '/api/v4/order/stop_market' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.spot_stop_market,
  result: OrderField,
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/create-stop-market-order',
    readOn: '2026-11-22',
  },
});
