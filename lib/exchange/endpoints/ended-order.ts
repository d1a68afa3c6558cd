import * as z from 'zod/mini';
import { zero } from '../../base/decimal.ts';
import { sides } from '../../model/order.ts';
import { isQuoteSizedWord, orderTypeOf, spotMarkOf } from '../dialect.ts';
import { defineEndpoint } from '../endpoint.ts';
import {
  ClientOrderIdField,
  DateField,
  DecimalField,
  OptionalDecimalField,
  OptionalTextField,
  OrderIdField,
  SecondsField,
  unknownStatusIn,
} from '../fields.ts';
import { listByMarket, WordField } from '../listed.ts';
import { endedStatusOf } from '../status-words.ts';

/**
 * Records of ended orders use other names than requests: `id`, `ctime` (created) and `ftime` (finished). `id`
 * is renamed here, not in `fields`, because requests use `orderId`.
 */
const EndedOrderRecord = z.pipe(
  z.object({
    id: OrderIdField,
    clientOrderId: ClientOrderIdField,
    side: z.enum(sides),
    type: z.string(),
    createdAt: SecondsField,
    endedAt: SecondsField,
    amount: DecimalField,
    price: DecimalField,
    // Only stop orders have it.
    activationPrice: OptionalDecimalField,
    dealMoney: DecimalField,
    dealStock: DecimalField,
    dealFee: DecimalField,
    status: WordField,
    // Orders on the spot account have none.
    positionSide: OptionalTextField,
  }),
  z.transform(({ id, dealMoney, dealStock, dealFee, status, type, createdAt, endedAt, ...order }) => ({
    ...order,
    orderId: id,
    filled: dealStock,
    filledNotional: dealMoney,
    fee: dealFee,
    ...endedStatusOf(
      status,
      order.amount.gt(zero) && (isQuoteSizedWord(type, order.side) ? dealMoney : dealStock).gte(order.amount),
    ),
    type: orderTypeOf(type),
    ...spotMarkOf(type, order.positionSide),
    createdAtMs: createdAt,
    endedAtMs: endedAt,
  })),
);

/**
 * One page of the ended orders of an account, newest first; or those with the given id. Whatever word an order carries, it has
 * ended. The list may lag behind
 * the end of an order by seconds. If there is none with a client order id, the exchange responds with 422, code 30 and the
 * key `orderHistory`. It ignores the dates beside an id, and lists no cancelled orders of partners' accounts.
 */
export const endedOrder = defineEndpoint({
  name: 'ended-order',
  method: 'POST',
  path: { documented: '/api/v4/trade-account/order/history', live: '/api/v4/trade-account/order/history' },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    /** Absent: all markets. */
    market: z.optional(z.string()),
    orderId: z.optional(OrderIdField),
    clientOrderId: z.optional(z.string()),
    /** Absent: a month ago. At most 31 days before the end, and six months back. */
    startDate: z.optional(DateField),
    /** Default: 50. */
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(500))),
    offset: z.optional(z.int().check(z.minimum(0))),
  }),
  result: listByMarket({ record: EndedOrderRecord, unknownWords: unknownStatusIn }),
  fields: { live: { createdAt: 'ctime', endedAt: 'ftime' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/spot-trading/query-executed-orders',
    readOn: '2026-11-22',
  },
});
