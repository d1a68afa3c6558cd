import * as z from 'zod/mini';
import { isKnownStatusWord, orderTypeOf, statusOf } from '../dialect.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField, OrderIdField, SecondsField } from '../fields.ts';

/**
 * Records of ended orders use other names than requests: `id`, `ctime` (created) and `ftime` (finished). `id`
 * is renamed here, not in `fields`, because requests use `orderId`.
 */
const EndedOrderRecord = z.pipe(
  z.object({
    id: OrderIdField,
    clientOrderId: z.string(),
    side: z.enum(['buy', 'sell']),
    type: z.string(),
    createdAt: SecondsField,
    endedAt: SecondsField,
    amount: DecimalField,
    price: DecimalField,
    dealMoney: DecimalField,
    dealStock: DecimalField,
    dealFee: DecimalField,
    status: z.string().check(z.refine(isKnownStatusWord, 'is a status this relay does not know')),
  }),
  z.transform(({ id, dealMoney, dealStock, dealFee, status, type, createdAt, endedAt, ...order }) => ({
    ...order,
    orderId: id,
    filled: dealStock,
    filledNotional: dealMoney,
    fee: dealFee,
    ...statusOf(status),
    type: orderTypeOf(type),
    createdAtMs: createdAt,
    endedAtMs: endedAt,
  })),
);

/**
 * Ended orders with the given client order id, by market. The list may lag behind the end of an order by
 * seconds. If there is none, the exchange responds with 422, code 30 and the key `orderHistory`.
 */
export const endedOrder = defineEndpoint({
  name: 'ended-order',
  method: 'POST',
  path: { documented: '/api/v4/trade-account/order/history', live: '/api/v4/trade-account/order/history' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({ market: z.string(), clientOrderId: z.string() }),
  result: z.record(z.string(), z.array(EndedOrderRecord)),
  fields: { live: { createdAt: 'ctime', endedAt: 'ftime' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/query-executed-orders',
    readOn: '2026-11-22',
  },
});
