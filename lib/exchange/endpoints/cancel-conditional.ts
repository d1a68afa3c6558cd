import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';

/**
 * Cancels a pair of orders (OCO) with both its legs, or an order with its planned stop-loss and take-profit (OTO), by the
 * id under which `conditional-orders` lists it. If it is sent twice, the second finds no such group.
 *
 * The exchange has one more request for each of the two kinds, `oco-cancel` and `oto-cancel`. This one does both.
 */
export const cancelConditional = defineEndpoint({
  name: 'cancel-conditional',
  method: 'POST',
  path: { documented: '/api/v4/order/conditional-cancel', live: '/api/v4/order/conditional-cancel' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 10_000,
  params: z.strictObject({ market: z.string(), id: z.int() }),
  result: z.tuple([]),
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/cancel-conditional-order',
    readOn: '2026-11-22',
  },
});
