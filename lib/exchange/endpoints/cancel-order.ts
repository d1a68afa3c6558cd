import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/**
 * Cancels one open order, named by exactly one of its two ids. If it is sent twice, the second finds no open
 * order.
 *
 * @see DECISIONS 10
 */
export const cancelOrder = defineEndpoint({
  name: 'cancel-order',
  method: 'POST',
  path: { documented: '/api/v4/order/cancel', live: '/api/v4/order/cancel' },
  access: 'private',
  availability: 'documented',
  repeatable: true,
  requestsPer10s: 10_000,
  params: z.union([
    z.strictObject({ market: z.string(), orderId: z.int() }),
    z.strictObject({ market: z.string(), clientOrderId: z.string() }),
  ]),
  result: OrderField,
  // Likely, not certain: the live service documents one shape of an order for creating, cancelling and listing.
  fields: { live: { activationPrice: 'activation_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/cancel-order',
    readOn: '2026-11-22',
  },
});
