import * as z from 'zod/mini';
import type { Deal } from '../../model/holdings.ts';
import { sides } from '../../model/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField, OrderIdField, SecondsField } from '../fields.ts';

const DealRecord = z.pipe(
  z.object({
    id: z.int().check(z.positive()),
    time: SecondsField,
    side: z.enum(sides),
    role: z.literal([1, 2]),
    amount: DecimalField,
    price: DecimalField,
    deal: DecimalField,
    fee: DecimalField,
    feeAsset: z.nullish(z.string()),
    orderId: z.nullish(OrderIdField),
    clientOrderId: z.nullish(z.string()),
  }),
  z.transform(
    ({ time, role, deal, feeAsset, orderId, clientOrderId, ...record }): Deal => ({
      ...record,
      atMs: time,
      role: role === 1 ? 'maker' : 'taker',
      notional: deal,
      feeAsset: feeAsset ?? undefined,
      orderId: orderId ?? undefined,
      clientOrderId: clientOrderId ?? undefined,
    }),
  ),
);

/**
 * One page of the fills of the orders with the given client order id, newest first. If there is no such order, or none of
 * them was filled, the exchange responds with 422, code 30 and the key `orderHistory`.
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
    market: z.string(),
    /** Absent: the fills of all orders of the market. */
    clientOrderId: z.optional(z.string()),
    /** Default: 50. */
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(500))),
    offset: z.optional(z.int().check(z.minimum(0))),
  }),
  result: z.array(DealRecord),
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/query-executed-order-history',
    readOn: '2026-11-22',
  },
});
