import * as z from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { OrderField } from '../fields.ts';

/** The open order of that client order id, as a list of one; an empty list when there is none. May lag a create. */
export const openOrder = defineEndpoint({
  name: 'open-order',
  method: 'POST',
  path: { documented: '/api/v4/orders', live: '/api/v4/orders' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({ market: z.string(), clientOrderId: z.string() }),
  result: z.array(OrderField),
  // M: the live service documents one shape of an order for creating, cancelling and listing.
  fields: { live: { activationPrice: 'activation_price' } },
  source: 'live service, orders',
});
