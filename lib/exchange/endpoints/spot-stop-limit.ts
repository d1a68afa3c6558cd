import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a spot order that rests as a limit order once its trigger price is reached. Each request creates another
 * order.
 */
export const spotStopLimit = defineEndpoint({
  name: 'spot-stop-limit',
  method: 'POST',
  path: { documented: '/api/v4/order/stop_limit', live: '/api/v4/order/stop_limit' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.spot_stop_limit,
  result: OrderField,
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/create-stop-limit-order',
    readOn: '2026-11-22',
  },
});
