import { formatDecimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Account } from '../model/account.ts';
import type { Denial } from '../model/outcome.ts';
import { type Complaint, type DraftContext, type OrderKind, sharedValues } from './order-kind.ts';

/**
 * Waits for its stop price, then fills like a market order. The exchange takes no bound for it, so the account must
 * allow orders without one.
 *
 * @see DECISIONS 117
 */
export const stopMarketKind: OrderKind<'stop_market'> = {
  name: 'stop_market',
  title: 'stop-market order',
  words: ['stopmarket', 'stop', 'slm'],
  fields: {
    stopPrice: {
      use: 'required',
      complain: () => ({ message: 'a stop-market order needs its stop price', hint: 'add "stopPrice"' }),
    },
    limitPrice: {
      use: 'forbidden',
      complaint: {
        message: 'a stop-market order has no limit price',
        hint: 'remove it, or write "orderType": "stop_limit"',
      },
    },
    maxSlippage: {
      use: 'forbidden',
      complaint: {
        message:
          'the exchange takes no bound for a stop-market order: its price is not known before it is triggered',
        hint: 'remove it, or write "orderType": "stop_limit" with the worst price you accept as "limitPrice"',
      },
    },
    postOnly: {
      use: 'forbidden',
      complaint: {
        message: 'a stop-market order takes from the book, so it cannot be post-only',
        hint: 'remove it, or write "orderType": "limit"',
      },
    },
    ioc: {
      use: 'forbidden',
      complaint: {
        message: 'a stop-market order takes at once when it is triggered, and cancels the rest',
        hint: 'remove it',
      },
    },
    expectTrigger: { use: 'optional' },
  },

  checkAccount: (account) => (account.allowUnguardedMarket ? null : complainUnguarded(account)),
  createSignal(values) {
    const { stopPrice, expectTrigger } = values;
    if (stopPrice === undefined) return undefined;
    return {
      orderType: 'stop_market',
      ...sharedValues(values),
      stopPrice,
      ...(expectTrigger === undefined ? {} : { expectTrigger }),
    };
  },
  draftOrder({ side, stopPrice }, context) {
    const { account, tradesOn, roundPrice } = context;
    if (!account.allowUnguardedMarket) return { ok: false, denial: denyUnguarded(account) };
    if (tradesOn === 'spot' && side === 'buy' && !context.isQuoteSize)
      return { ok: false, denial: denyBaseSize(context) };
    const activationPrice = roundPrice(parseDecimal(stopPrice));
    return {
      ok: true,
      draft: {
        type: tradesOn === 'spot' ? 'spot_stop_market' : 'stop_market',
        activationPrice,
        unitPrice: activationPrice,
        entryPrice: activationPrice,
      },
    };
  },
  limitDistance: () => null,
  trigger: ({ stopPrice, expectTrigger = null }) => ({ stopPrice, expected: expectTrigger }),
  takesFromBook: () => false,
  mustNotRest: () => false,

  summarise: ({ stopPrice }) => `at market from ${stopPrice}`,
  describePrices: ({ stopPrice, expectTrigger }) => [
    `stop ${stopPrice}, then at market`,
    ...(expectTrigger === undefined ? [] : [`stop price expected ${expectTrigger} the last price`]),
  ],
  describeOrderPrices: ({ activationPrice = zero }) => `at market from ${formatDecimal(activationPrice)}`,
};

function complainUnguarded({ name }: Account): Complaint {
  return {
    message: `a stop-market order can fill at any price, and account ${name} does not allow that`,
    hint: 'write "orderType": "stop_limit" with a "limitPrice", or set allowUnguardedMarket: true for the account in relay.config.ts',
  };
}

/** The webhook refuses such alerts, so this occurs only when the account was changed since. */
function denyUnguarded(account: Account): Denial {
  const { message, hint } = complainUnguarded(account);
  return {
    rule: 'unguarded_market',
    limit: 'allowUnguardedMarket: true',
    actual: 'not set',
    message: `${message}; ${hint}`,
  };
}

/** The amount that such a buy would get is not known before it is triggered. */
function denyBaseSize({ account }: DraftContext): Denial {
  return {
    rule: 'quote_size_needed',
    limit: 'quoteQuantity',
    actual: 'quantity',
    message: `the exchange sizes a spot stop-market buy in the quote currency, so account ${account.name} cannot buy an exact quantity with it; write "quoteQuantity", or "orderType": "stop_limit"`,
  };
}
