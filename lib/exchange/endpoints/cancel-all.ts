import * as z from 'zod/mini';
import { tradingGrounds } from '../../model/account.ts';
import { defineEndpoint } from '../endpoint.ts';

/**
 * Cancels every open order of a market, whoever placed it. Of these types only, if any are given.
 *
 * Not proven: whether it reaches waiting stop orders, pairs and planned stop-losses. Read the lists afterwards.
 */
export const cancelAll = defineEndpoint({
  name: 'cancel-all',
  method: 'POST',
  path: { documented: '/api/v4/order/cancel/all', live: '/api/v4/order/cancel/all' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 10_000,
  params: z.strictObject({
    market: z.string(),
    type: z.optional(z.array(z.enum(tradingGrounds)).check(z.minLength(1))),
  }),
  result: z.tuple([]),
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/cancel-all-orders',
    readOn: '2026-11-22',
  },
});
