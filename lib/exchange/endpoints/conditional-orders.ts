import * as z from 'zod/mini';
import type { ConditionalOrder } from '../../model/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { ListedOrderField, OptionalDecimalField, unknownStatusIn } from '../fields.ts';
import { listOf, type RecordReader } from '../listed.ts';

const OcoRecord = z.pipe(
  z.object({ id: z.int(), type: z.literal('oco'), stopLoss: ListedOrderField, takeProfit: ListedOrderField }),
  z.transform(({ type, ...record }): ConditionalOrder => ({ kind: type, ...record })),
);

/** The description of the live service has the trigger price of a primary order in snake case, captures in camel case. */
const PrimaryField = z.pipe(
  z.pipe(
    z.looseObject({}),
    z.transform(({ activation_price: snakeCase, ...order }) =>
      snakeCase === undefined ? order : { activationPrice: snakeCase, ...order },
    ),
  ),
  ListedOrderField,
);

const OtoRecord = z.pipe(
  z.object({
    id: z.int(),
    type: z.literal('oto'),
    stopLossPrice: OptionalDecimalField,
    takeProfitPrice: OptionalDecimalField,
    conditionalOrder: PrimaryField,
  }),
  z.transform(
    ({ type, conditionalOrder, stopLossPrice, takeProfitPrice, ...record }): ConditionalOrder => ({
      kind: type,
      ...record,
      stopLossPrice: stopLossPrice ?? null,
      takeProfitPrice: takeProfitPrice ?? null,
      primary: conditionalOrder,
    }),
  ),
);

const groupReader: RecordReader<ConditionalOrder> = {
  record: z.discriminatedUnion('type', [OcoRecord, OtoRecord]),
  unknownWords: (group) =>
    (group.kind === 'oco' ? [group.stopLoss, group.takeProfit] : [group.primary]).flatMap(unknownStatusIn),
};

/**
 * One page of active pairs (OCO) and of orders whose take-profit and stop-loss are not placed yet (OTO).
 * Plain stop-limit orders are not listed here.
 */
export const conditionalOrders = defineEndpoint({
  name: 'conditional-orders',
  method: 'POST',
  path: { documented: '/api/v4/orders/conditional', live: '/api/v4/conditional-orders' },
  access: 'private',
  availability: 'documented',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    market: z.optional(z.string()),
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(100))),
    offset: z.optional(z.int().check(z.minimum(0))),
  }),
  result: z.pipe(
    z.object({ limit: z.int(), offset: z.int(), total: z.int(), records: listOf(groupReader) }),
    z.transform(({ records, ...page }) => ({ ...page, ...records })),
  ),
  fields: {
    documented: {
      stopLoss: 'stop_loss',
      takeProfit: 'take_profit',
      postOnly: 'post_only',
      activationCondition: 'activation_condition',
    },
  },
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/query-unexecuted-conditional-orders',
    readOn: '2026-11-22',
  },
});
