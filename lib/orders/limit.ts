import { formatDecimal, parseDecimal } from '../base/decimal.ts';
import { limit } from '../exchange/endpoints/limit.ts';
import type { OrderKind } from './order-kind.ts';

/** Fills at its limit price or better, at once or after resting in the book. */
export const limitKind: OrderKind<'limit'> = {
  name: 'limit',
  title: 'limit order',
  words: ['limit'],
  fields: {
    quantity: { use: 'optional' },
    quoteQuantity: { use: 'optional' },
    stopPrice: {
      use: 'forbidden',
      complaint: {
        message: 'a limit order has no stop price',
        hint: 'remove it, or write "orderType": "stop_limit" for an order that waits for a stop price',
      },
    },
    limitPrice: {
      use: 'required',
      complain: () => ({ message: 'a limit order needs its limit price', hint: 'add "limitPrice"' }),
    },
    stopLoss: { use: 'optional' },
    takeProfit: { use: 'optional' },
    positionSide: { use: 'optional' },
    expectTrigger: {
      use: 'forbidden',
      complaint: {
        message: 'a limit order has no stop price that could be on the wrong side',
        hint: 'remove it, or write "orderType": "stop_limit"',
      },
    },
  },
  endpoint: limit,
  mayFillAtOnce: true,
  compared: ['market', 'side', 'amount', 'price', 'clientOrderId'],

  createSignal({ limitPrice, stopPrice: _stopPrice, expectTrigger: _expectTrigger, ...shared }) {
    if (limitPrice === undefined) return undefined;
    return { action: 'order', orderType: 'limit', ...shared, limitPrice };
  },
  draftOrder: ({ limitPrice }, _, roundPrice) => ({
    ok: true,
    draft: { kind: 'limit', price: roundPrice(parseDecimal(limitPrice)) },
  }),
  valuationPrice: ({ price }) => price,
  // The relay does not know market prices, and the order has no other price to compare with.
  limitDistance: () => null,
  trigger: () => null,
  prepare(client, { kind: _, ...params }) {
    return client.prepare(limit, params);
  },

  summarise: ({ limitPrice }) => `limit ${limitPrice}`,
  describePrices: ({ limitPrice }) => [`limit ${limitPrice}`],
  describeOrder: ({ side, amount, market, price }) =>
    `${side} ${formatDecimal(amount)} ${market} at limit ${formatDecimal(price)}`,
};
