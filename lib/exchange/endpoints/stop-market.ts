import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a collateral order that becomes a market order at its trigger price, with take-profit and stop-loss if given.
 * Each request creates another order.
 */
export const stopMarket = defineEndpoint({
  name: 'stop-market',
  method: 'POST',
  path: {
    documented: '/api/v4/order/collateral/trigger-market',
    live: '/api/v4/order/collateral/trigger-market',
  },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.stop_market,
  result: OrderField,
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-trigger-market-order',
    readOn: '2026-11-22',
  },
});
