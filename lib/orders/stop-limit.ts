import { type Decimal, formatDecimal, one, parseDecimal } from '../base/decimal.ts';
import { stopLimit } from '../exchange/endpoints/stop-limit.ts';
import type { Account } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import type { StopLimitSignal } from '../model/signal.ts';
import type { OrderKind } from './order-kind.ts';

/** Waits for its stop price, then rests as a limit order. */
export const stopLimitKind: OrderKind<'stop_limit'> = {
  name: 'stop_limit',
  title: 'stop-limit order',
  words: ['stop_limit', 'stop-limit', 'stop limit', 'stoplimit'],
  fields: {
    quantity: { use: 'optional' },
    quoteQuantity: { use: 'optional' },
    stopPrice: {
      use: 'required',
      complain: () => ({
        message: 'a stop-limit order needs its stop price',
        hint: 'add "stopPrice"; "price" means the limit price here',
      }),
    },
    limitPrice: {
      use: 'required',
      complain: ({ name, limitOffsetRate }) =>
        limitOffsetRate !== null
          ? null
          : {
              message: `the order has no limit price, and account ${name} has no limit offset to compute one from`,
              hint: 'add "limitPrice", or give the account a limit offset in relay.config.ts',
            },
    },
    stopLoss: { use: 'optional' },
    takeProfit: { use: 'optional' },
    positionSide: { use: 'optional' },
    expectTrigger: { use: 'optional' },
  },
  endpoint: stopLimit,
  mayFillAtOnce: false,
  compared: ['market', 'side', 'amount', 'price', 'activationPrice', 'clientOrderId'],

  createSignal({ stopPrice, limitPrice = null, ...shared }) {
    if (stopPrice === undefined) return undefined;
    return { action: 'order', orderType: 'stop_limit', ...shared, stopPrice, limitPrice };
  },
  draftOrder(signal, account, roundPrice) {
    const activationPrice = roundPrice(parseDecimal(signal.stopPrice));
    const limitPrice = limitPriceOf(signal, account, activationPrice);
    if (limitPrice === null) return { ok: false, denial: denyMissingLimit(account) };
    return { ok: true, draft: { kind: 'stop_limit', price: roundPrice(limitPrice), activationPrice } };
  },
  valuationPrice: ({ price }) => price,
  limitDistance: ({ price, activationPrice }) => ({
    limitPrice: price,
    reference: activationPrice,
    referenceName: 'stop price',
  }),
  trigger: ({ stopPrice, expectTrigger = null }) => ({ stopPrice, expected: expectTrigger }),
  prepare(client, { kind: _, ...params }) {
    return client.prepare(stopLimit, params);
  },

  summarise: ({ stopPrice }) => `at ${stopPrice}`,
  describePrices: ({ stopPrice, limitPrice, expectTrigger }) => [
    `stop ${stopPrice}`,
    limitPrice === null ? "limit at the account's offset" : `limit ${limitPrice}`,
    ...(expectTrigger === undefined ? [] : [`stop price expected ${expectTrigger} the last price`]),
  ],
  describeOrder: ({ side, amount, market, price }) =>
    `${side} ${formatDecimal(amount)} ${market} at ${formatDecimal(price)}`,
};

/** A default limit price starts at the rounded stop price, so that it never exceeds the account's offset. */
function limitPriceOf(
  { limitPrice, side }: StopLimitSignal,
  { limitOffsetRate: rate }: Account,
  activationPrice: Decimal,
): Decimal | null {
  if (limitPrice !== null) return parseDecimal(limitPrice);
  if (rate === null) return null;
  return activationPrice.times(side === 'buy' ? one.plus(rate) : one.minus(rate));
}

/** The webhook refuses such alerts, so this occurs only when the account's offset was removed since. */
function denyMissingLimit({ name }: Account): Denial {
  return {
    rule: 'limit_price_missing',
    limit: 'a limit price or an offset',
    actual: 'neither',
    message: `the order has no limit price, and account ${name} no longer has a limit offset; add one of them`,
  };
}
