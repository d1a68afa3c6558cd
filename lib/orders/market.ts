import {
  type Decimal,
  formatDecimal,
  formatPercent,
  maximum,
  minimum,
  one,
  parseDecimal,
  rateOfPercent,
} from '../base/decimal.ts';
import type { Account } from '../model/account.ts';
import { isMarkedReducing, type OrderType } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { MarketSignal } from '../model/signal.ts';
import {
  type Complaint,
  type DraftContext,
  type Drafted,
  type OrderKind,
  sharedValues,
} from './order-kind.ts';

/**
 * Fills at once. With a bound (`maxSlippage`) it goes out as a limit order at the bound that takes at once and cancels
 * the rest; without one it goes out as the exchange's own market order.
 *
 * @see DECISIONS 113
 */
export const marketKind: OrderKind<'market'> = {
  name: 'market',
  title: 'market order',
  words: ['market'],
  fields: {
    stopPrice: {
      use: 'forbidden',
      complaint: {
        message: 'a market order has no stop price',
        hint: 'remove it, or write "orderType": "stop_market" or "stop_limit" for an order that waits for a stop price',
      },
    },
    limitPrice: {
      use: 'forbidden',
      complaint: {
        message: 'a market order has no limit price',
        hint: 'remove it, or write "orderType": "limit"; "maxSlippage" says how far beyond the best price it may fill',
      },
    },
    maxSlippage: {
      use: 'required',
      complain: (account) => (isAllowed(account, null) ? null : complainUnguarded(account)),
    },
    postOnly: {
      use: 'forbidden',
      complaint: {
        message: 'a market order never rests, so it cannot be post-only',
        hint: 'remove it, or write "orderType": "limit"',
      },
    },
    ioc: {
      use: 'forbidden',
      complaint: {
        message: 'a market order always takes at once and cancels the rest',
        hint: 'remove it, or write "orderType": "limit"',
      },
    },
    expectTrigger: {
      use: 'forbidden',
      complaint: {
        message: 'a market order has no stop price that could be on the wrong side',
        hint: 'remove it, or write "orderType": "stop_limit"',
      },
    },
  },

  checkAccount: () => null,
  createSignal(values) {
    const { maxSlippage } = values;
    return {
      orderType: 'market',
      ...sharedValues(values),
      ...(maxSlippage === undefined ? {} : { maxSlippage }),
      // In hedge mode the exchange refuses a larger order than the side that it closes, and cuts one that is reduce-only. An
      // order that rests is left as it is: cut when it is placed, it would be too small for what fills later.
      ...(isMarkedReducing(values) ? { reduceOnly: true } : {}),
    };
  },
  draftOrder(signal, context) {
    const { account, oppositePrice } = context;
    const asked = signal.maxSlippage === undefined ? null : rateOfPercent(signal.maxSlippage);
    if (!isAllowed(account, asked)) return { ok: false, denial: denyUnguarded(account) };
    const most = account.maxSlippageRate;
    if (asked !== null && most !== null && asked.gt(most))
      return { ok: false, denial: denySlippage(asked, most, account) };
    if (oppositePrice === null) return { ok: false, denial: denyEmptyBook };
    const rate = asked ?? most;
    return rate === null
      ? draftUnguarded(signal, oppositePrice, context)
      : draftGuarded(signal, oppositePrice, rate, context);
  },
  limitDistance: () => null,
  trigger: () => null,
  takesFromBook: () => true,
  mustNotRest: () => true,

  summarise: () => 'at market',
  describePrices: ({ maxSlippage }) => [
    maxSlippage === undefined
      ? "at market, within the account's maxSlippage if it has one"
      : `at market, at most ${maxSlippage} beyond the best price`,
  ],
  describeOrderPrices: ({ side, price }) =>
    price === undefined
      ? 'at market'
      : `at market, ${side === 'buy' ? 'at most' : 'at least'} ${formatDecimal(price)}`,
};

function isAllowed({ maxSlippageRate, allowUnguardedMarket }: Account, asked: Decimal | null): boolean {
  return asked !== null || maxSlippageRate !== null || allowUnguardedMarket;
}

function complainUnguarded({ name }: Account): Complaint {
  return {
    message: `the market order has no "maxSlippage", and account ${name} has none either: it could fill at any price`,
    hint: 'add "maxSlippage": "0.5%" to the alert or to the account in relay.config.ts; allowUnguardedMarket: true in the account allows orders without a bound',
  };
}

/** The webhook refuses such alerts, so this occurs only when the account was changed since. */
function denyUnguarded(account: Account): Denial {
  const { message, hint } = complainUnguarded(account);
  return {
    rule: 'unguarded_market',
    limit: 'a maxSlippage',
    actual: 'none',
    message: `${message}; ${hint}`,
  };
}

function denySlippage(asked: Decimal, most: Decimal, { name }: Account): Denial {
  const [limit, actual] = [formatPercent(most), formatPercent(asked)];
  return {
    rule: 'max_slippage',
    limit,
    actual,
    message: `the alert asks for a maxSlippage of ${actual}, and account ${name} allows ${limit}; an alert can only lower it`,
  };
}

const denyEmptyBook: Denial = {
  rule: 'empty_book',
  limit: 'a price on the other side of the order book',
  actual: 'none',
  message: 'nobody offers the other side of this market now, so a market order has no price; try again later',
};

/**
 * The price bound is rounded toward the best price, so that it never lies further away than the rate. Where the best price has
 * passed the worst one of the signal, the order fills nothing.
 */
function draftGuarded(
  { side, worstPrice }: MarketSignal,
  oppositePrice: Decimal,
  rate: Decimal,
  { tradesOn, roundPrice }: DraftContext,
): Drafted {
  const bound = oppositePrice.times(side === 'buy' ? one.plus(rate) : one.minus(rate));
  const worst = worstPrice === undefined ? bound : parseDecimal(worstPrice);
  const price = roundPrice(side === 'buy' ? minimum(bound, worst) : maximum(bound, worst));
  return {
    ok: true,
    draft: {
      type: tradesOn === 'spot' ? 'spot_limit' : 'limit',
      price,
      ioc: true,
      // A buy may cost as much as its bound. A sell is worth the best price at most.
      unitPrice: side === 'buy' ? price : oppositePrice,
      entryPrice: oppositePrice,
    },
  };
}

function draftUnguarded(
  { side }: MarketSignal,
  oppositePrice: Decimal,
  { tradesOn, isQuoteSize }: DraftContext,
): Drafted {
  const spotType: OrderType = side === 'buy' && isQuoteSize ? 'spot_market' : 'spot_stock_market';
  const type = tradesOn === 'spot' ? spotType : 'market';
  return { ok: true, draft: { type, unitPrice: oppositePrice, entryPrice: oppositePrice } };
}
