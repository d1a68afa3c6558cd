import { orderSchemas } from '../../model/order-schemas.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Creates a spot market order whose amount is in the base currency, on both sides. Each request creates another order.
 */
export const spotStockMarket = defineEndpoint({
  name: 'spot-stock-market',
  method: 'POST',
  path: { documented: '/api/v4/order/stock_market', live: '/api/v4/order/stock_market' },
  access: 'private',
  availability: 'live-only',
  repeatable: false,
  requestsPer10s: 10_000,
  params: orderSchemas.spot_stock_market,
  result: OrderField,
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/create-buy-stock-market-order',
    readOn: '2026-11-22',
  },
});
