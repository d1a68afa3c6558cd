import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { ListedOrderField, OrderIdField, unknownStatusIn } from '../fields.ts';
import { listOf } from '../listed.ts';

/**
 * One page of the open orders of a market, or of all markets. With an order id or a client order id, for which the
 * exchange needs a market: the open order with that id, or none. The list may lag behind a create by seconds.
 */
export const openOrder = defineEndpoint({
  name: 'open-order',
  method: 'POST',
  path: { documented: '/api/v4/orders', live: '/api/v4/orders' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    /** Absent: all markets. */
    market: z.optional(z.string()),
    orderId: z.optional(OrderIdField),
    clientOrderId: z.optional(z.string()),
    /** Default: 50. */
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(100))),
    offset: z.optional(z.int().check(z.minimum(0), z.maximum(4_294_967_295))),
  }),
  result: listOf({ record: ListedOrderField, unknownWords: unknownStatusIn }),
  // Likely, not certain: the live service documents one shape of an order for creating, cancelling and listing.
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/query-unexecuted-orders',
    readOn: '2026-11-22',
  },
});
