import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a collateral stop-limit order, with take-profit and stop-loss if given. Each request can create
 * another.
 */
export const stopLimit = defineEndpoint({
  name: 'stop-limit',
  method: 'POST',
  path: { documented: '/api/v4/order/collateral/stop-limit', live: '/api/v4/order/collateral/stop-limit' },
  access: 'private',
  availability: 'documented',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.stop_limit,
  result: OrderField,
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-stop-limit-order',
    readOn: '2026-11-22',
  },
});
