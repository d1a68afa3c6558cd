import * as z from 'zod/mini';
import type { Deal } from '../../model/holdings.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DateField, dealReader } from '../fields.ts';
import { joinMarkets, type ListPage, readRecords } from '../listed.ts';

/** One market's fills are a list, those of all markets lists by market. */
const Deals = z.pipe(
  z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]),
  z.transform(
    (lists): ListPage<Deal> =>
      Array.isArray(lists) ? readRecords(dealReader, lists, null) : joinMarkets(dealReader, lists),
  ),
);

/**
 * One page of the fills of an account, newest first; or those of the orders with the given client order id. If there is no
 * such order, or none of them was filled, the exchange responds with 422, code 30 and the key `orderHistory`.
 *
 * It lists fills of partners' accounts too, whose cancelled orders are in no history.
 */
export const executedHistory = defineEndpoint({
  name: 'executed-history',
  method: 'POST',
  path: {
    documented: '/api/v4/trade-account/executed-history',
    live: '/api/v4/trade-account/executed-history',
  },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    /** Absent: all markets. */
    market: z.optional(z.string()),
    clientOrderId: z.optional(z.string()),
    /** Absent: six months ago. */
    startDate: z.optional(DateField),
    /** Default: 50. */
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(500))),
    offset: z.optional(z.int().check(z.minimum(0))),
  }),
  result: Deals,
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/query-executed-order-history',
    readOn: '2026-11-22',
  },
});
