import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a collateral market order, with take-profit and stop-loss if given. It fills at once; what lies beyond the
 * exchange's own price band is cancelled. Each request creates another order.
 */
export const market = defineEndpoint({
  name: 'market',
  method: 'POST',
  path: { documented: '/api/v4/order/collateral/market', live: '/api/v4/order/collateral/market' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.market,
  result: OrderField,
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-market-order',
    readOn: '2026-11-22',
  },
});
