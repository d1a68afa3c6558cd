import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { OrderIdField, orderDealReader } from '../fields.ts';
import { listOf } from '../listed.ts';

/** One page of the fills of an order. An order that does not exist, or is another account's, has none. */
export const orderDeals = defineEndpoint({
  name: 'order-deals',
  method: 'POST',
  path: { documented: '/api/v4/trade-account/order', live: '/api/v4/trade-account/order' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    orderId: OrderIdField,
    /** Default: 50. */
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(500))),
    offset: z.optional(z.int().check(z.minimum(0))),
  }),
  result: z.pipe(
    z.object({ records: listOf(orderDealReader) }),
    z.transform(({ records }) => records),
  ),
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/query-executed-order-deals',
    readOn: '2026-11-22',
  },
});
