import { formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import { type OrderKind, sharedValues } from './order-kind.ts';

/** Fills at its limit price or better, at once or after resting in the book. */
export const limitKind: OrderKind<'limit'> = {
  name: 'limit',
  title: 'limit order',
  words: ['limit'],
  fields: {
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
    maxSlippage: {
      use: 'forbidden',
      complaint: {
        message: 'a limit order is bound by its limit price',
        hint: 'remove it, or write "orderType": "market" for an order that takes the best price within "maxSlippage"',
      },
    },
    postOnly: { use: 'optional' },
    ioc: { use: 'optional' },
    expectTrigger: {
      use: 'forbidden',
      complaint: {
        message: 'a limit order has no stop price that could be on the wrong side',
        hint: 'remove it, or write "orderType": "stop_limit"',
      },
    },
  },

  checkAccount: () => null,
  createSignal(values) {
    const { limitPrice, postOnly, ioc } = values;
    if (limitPrice === undefined) return undefined;
    return {
      orderType: 'limit',
      ...sharedValues(values),
      limitPrice,
      ...(postOnly === undefined ? {} : { postOnly }),
      ...(ioc === undefined ? {} : { ioc }),
    };
  },
  draftOrder({ limitPrice, postOnly, ioc }, { tradesOn, oppositePrice, roundPrice }) {
    const price = roundPrice(parseDecimal(limitPrice));
    return {
      ok: true,
      draft: {
        type: tradesOn === 'spot' ? 'spot_limit' : 'limit',
        price,
        ...(postOnly === true ? { postOnly } : {}),
        ...(ioc === true ? { ioc } : {}),
        unitPrice: oppositePrice?.gt(price) === true ? oppositePrice : price,
        entryPrice: price,
      },
    };
  },
  // There is no other price to compare with: the book is read for some sells only.
  limitDistance: () => null,
  trigger: () => null,
  // It fills at what buyers offer, if that is more than its limit price. A post-only order never does.
  takesFromBook: ({ side, size, postOnly }, { maxNotional }) =>
    side === 'sell' && postOnly !== true && (size.unit !== 'base' || maxNotional !== null),
  mustNotRest: ({ ioc }) => ioc === true,

  summarise: ({ limitPrice }) => `limit ${limitPrice}`,
  describePrices: ({ limitPrice, postOnly, ioc }) => [
    `limit ${limitPrice}`,
    ...(postOnly === true ? ['post-only'] : []),
    ...(ioc === true ? ['immediate or cancel'] : []),
  ],
  describeOrderPrices: ({ price = zero, postOnly, ioc }) =>
    `at limit ${formatDecimal(price)}${postOnly ? ', post-only' : ''}${ioc ? ', immediate or cancel' : ''}`,
};
