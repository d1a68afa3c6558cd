import { type Decimal, formatDecimal, minimum, one, parseDecimal, zero } from '../base/decimal.ts';
import type { Account } from '../model/account.ts';
import type { Side } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { StopLimitSignal } from '../model/signal.ts';
import { type OrderKind, sharedValues } from './order-kind.ts';

/** How far beyond its stop price the limit price of a stop-loss lies, unless the account allows less. */
const usualDistance = parseDecimal('0.01');

/** The limit price of a stop-loss that the alert gave none. */
export function limitBeyond(
  stopPrice: Decimal,
  side: Side,
  { maxLimitDistanceRate }: Partial<Pick<Account, 'maxLimitDistanceRate'>>,
): Decimal {
  const rate = minimum(usualDistance, maxLimitDistanceRate ?? usualDistance);
  return stopPrice.times(side === 'sell' ? one.minus(rate) : one.plus(rate));
}

/** Waits for its stop price, then rests as a limit order. */
export const stopLimitKind: OrderKind<'stop_limit'> = {
  name: 'stop_limit',
  title: 'stop-limit order',
  words: ['stoplimit', 'sl'],
  fields: {
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
    maxSlippage: {
      use: 'forbidden',
      complaint: {
        message: 'a stop-limit order is bound by its limit price',
        hint: 'remove it, and write the worst price you accept as "limitPrice"',
      },
    },
    postOnly: {
      use: 'forbidden',
      complaint: {
        message: 'the exchange has no post-only stop-limit order',
        hint: 'remove it, or write "orderType": "limit"',
      },
    },
    ioc: {
      use: 'forbidden',
      complaint: {
        message: 'the exchange has no immediate-or-cancel stop-limit order',
        hint: 'remove it, or write "orderType": "stop_market" for an order that fills when its stop price is reached',
      },
    },
    expectTrigger: { use: 'optional' },
  },

  checkAccount: () => null,
  createSignal(values) {
    const { stopPrice, limitPrice = null, expectTrigger } = values;
    if (stopPrice === undefined) return undefined;
    return {
      orderType: 'stop_limit',
      ...sharedValues(values),
      stopPrice,
      limitPrice,
      ...(expectTrigger === undefined ? {} : { expectTrigger }),
    };
  },
  draftOrder(signal, { account, tradesOn, roundPrice }) {
    const activationPrice = roundPrice(parseDecimal(signal.stopPrice));
    const limitPrice = limitPriceOf(signal, account, activationPrice);
    if (limitPrice === null) return { ok: false, denial: denyMissingLimit(account) };
    const price = roundPrice(limitPrice);
    const type = tradesOn === 'spot' ? 'spot_stop_limit' : 'stop_limit';
    return { ok: true, draft: { type, price, activationPrice, unitPrice: price, entryPrice: price } };
  },
  limitDistance: ({ price = zero, activationPrice = zero }) => ({
    limitPrice: price,
    reference: activationPrice,
    referenceName: 'stop price',
  }),
  trigger: ({ stopPrice, expectTrigger = null }) => ({ stopPrice, expected: expectTrigger }),
  takesFromBook: () => false,
  mustNotRest: () => false,

  summarise: ({ stopPrice }) => `at ${stopPrice}`,
  describePrices: ({ stopPrice, limitPrice, expectTrigger }) => [
    `stop ${stopPrice}`,
    limitPrice === null ? "limit at the account's offset" : `limit ${limitPrice}`,
    ...(expectTrigger === undefined ? [] : [`stop price expected ${expectTrigger} the last price`]),
  ],
  describeOrderPrices: ({ price = zero, activationPrice = zero }) =>
    `at stop ${formatDecimal(activationPrice)}, limit ${formatDecimal(price)}`,
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
