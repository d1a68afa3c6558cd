import { describe, expect, test } from '@jest/globals';
import { parseDecimal, zero } from '../../lib/base/decimal.ts';
import { checkMarket, checkOrder, checkPause, denyOrderRate } from '../../lib/limits/check-order.ts';
import type { Account } from '../../lib/model/account.ts';
import type { OrderRequest, SizedOrder } from '../../lib/model/order.ts';
import type { CancelAllSignal, CancelSignal, OrderSignal } from '../../lib/model/signal.ts';

const account: Account = {
  name: 'main',
  mode: 'live',
  region: null,
  limitOffsetRate: null,
  maxLimitDistanceRate: parseDecimal('0.03'),
  markets: {
    BTC_PERP: {
      tradesOn: 'futures',
      sides: ['buy'],
      maxAmount: parseDecimal('0.5'),
      maxNotional: parseDecimal('20000'),
    },
    ETH_PERP: { tradesOn: 'futures', sides: ['buy', 'sell'], maxAmount: null, maxNotional: null },
    XRP_PERP: { tradesOn: 'futures', sides: [], maxAmount: null, maxNotional: null },
  },
  maxSlippageRate: null,
  allowUnguardedMarket: false,
  maxOrdersPerMinute: 6,
  defaultOrderType: 'market',
  requirePosition: false,
  onMismatch: 'deny',
  oneStrategyPerMarket: null,
  maxSignalsPerMinute: 60,
};

const common = { ticker: 'T', market: 'BTC_PERP', timeMs: null, maxLagMs: null };
const order: OrderSignal = {
  ...common,
  action: 'order',
  orderType: 'stop_limit',
  side: 'buy',
  size: { unit: 'base', quantity: '0.5' },
  stopPrice: '40000',
  limitPrice: '40000',
};
const cancel: CancelSignal = { ...common, action: 'cancel', target: { by: 'orderId', orderId: 1 } };
const cancelAll: CancelAllSignal = { ...common, action: 'cancel_all' };

const request: OrderRequest = {
  type: 'stop_limit',
  market: 'BTC_PERP',
  side: 'buy',
  amount: parseDecimal('0.5'),
  price: parseDecimal('40000'),
  activationPrice: parseDecimal('39000'),
  clientOrderId: 'tr-1',
};

/** The order, valued at its limit price. */
function sized(changes: Partial<OrderRequest> = {}): SizedOrder {
  const order = { ...request, ...changes };
  return { order, baseAmount: order.amount, notional: order.amount.times(order.price ?? zero) };
}

describe('checkPause', () => {
  test('lets a running account trade', () => {
    expect(checkPause(null)).toBeNull();
  });

  test('denies with the time and reason of the pause', () => {
    expect(checkPause({ sinceMs: 1769860800000, reason: 'news at two' })).toEqual({
      rule: 'paused',
      limit: 'running',
      actual: 'paused since 2026-01-31T12:00:00.000Z',
      message:
        'the account is paused since 2026-01-31T12:00:00.000Z: news at two; resume it to trade again (npx relay resume)',
    });
  });
});

describe('checkMarket', () => {
  test('allows what the account may trade', () => {
    expect(checkMarket(order, account)).toBeNull();
    expect(checkMarket({ ...order, market: 'ETH_PERP', side: 'sell' }, account)).toBeNull();
  });

  test('denies any other market, for orders and cancellations alike', () => {
    const denial = {
      rule: 'market_not_allowed',
      limit: 'BTC_PERP, ETH_PERP, XRP_PERP',
      actual: 'SOL_PERP',
      message:
        "account main may trade BTC_PERP, ETH_PERP, XRP_PERP, not SOL_PERP; add it to the account's markets in relay.config.ts if it should",
    };

    for (const signal of [order, cancel, cancelAll])
      expect(checkMarket({ ...signal, market: 'SOL_PERP' }, account)).toEqual(denial);
  });

  test.each(['__proto__', 'constructor', 'toString'])('denies a market named %s', (market) => {
    expect(checkMarket({ ...order, market }, account)?.rule).toBe('market_not_allowed');
  });

  test('denies everything to an account without markets', () => {
    expect(checkMarket(order, { ...account, markets: {} })).toMatchObject({
      rule: 'market_not_allowed',
      limit: 'none',
      actual: 'BTC_PERP',
    });
  });

  test('denies a side that is not allowed in the market', () => {
    expect(checkMarket({ ...order, side: 'sell' }, account)).toEqual({
      rule: 'side_not_allowed',
      limit: 'buy',
      actual: 'sell',
      message: 'account main may buy in BTC_PERP, not sell; extend its sides in relay.config.ts if it should',
    });
    expect(checkMarket({ ...order, market: 'XRP_PERP' }, account)).toMatchObject({
      rule: 'side_not_allowed',
      limit: 'none',
    });
  });

  test('allows an order that only reduces whatever sides are allowed', () => {
    expect(checkMarket({ ...order, side: 'sell', reduceOnly: true }, account)).toBeNull();
    expect(checkMarket({ ...order, side: 'sell', positionSide: 'LONG' }, account)).toBeNull();
    expect(checkMarket({ ...order, side: 'sell', positionSide: 'SHORT' }, account)).toMatchObject({
      rule: 'side_not_allowed',
    });
  });

  test('denies a sale on spot whatever it says: there is no position to reduce', () => {
    const markets = {
      BTC_USDT: { tradesOn: 'spot', sides: ['buy'], maxAmount: null, maxNotional: null },
    } as const;
    const sale = { ...order, market: 'BTC_USDT', side: 'sell', reduceOnly: true } as const;

    expect(checkMarket(sale, { ...account, markets })).toMatchObject({ rule: 'side_not_allowed' });
  });

  test('allows cancellations whatever sides are allowed', () => {
    expect(checkMarket({ ...cancel, market: 'XRP_PERP' }, account)).toBeNull();
    expect(checkMarket({ ...cancelAll, market: 'XRP_PERP' }, account)).toBeNull();
  });
});

describe('checkOrder', () => {
  test('allows an order that is exactly at both limits', () => {
    expect(checkOrder(sized(), account)).toBeNull();
  });

  test('denies an amount above the limit by the smallest part', () => {
    expect(checkOrder(sized({ amount: parseDecimal('0.5000000000000000001') }), account)).toEqual({
      rule: 'max_amount',
      limit: '0.5',
      actual: '0.5000000000000000001',
      message:
        'an amount in BTC_PERP may be 0.5 at most, and is 0.5000000000000000001; lower the size, or raise maxAmount of BTC_PERP in relay.config.ts',
    });
  });

  test('denies a notional above the limit, computed at the limit price', () => {
    expect(checkOrder(sized({ price: parseDecimal('40000.01') }), account)).toEqual({
      rule: 'max_notional',
      limit: '20000',
      actual: '20000.005',
      message:
        'the notional of an order in BTC_PERP may be 20000 at most, and is 20000.005; lower the size, or raise maxNotional of BTC_PERP in relay.config.ts',
    });
  });

  test('checks each limit by itself', () => {
    const limits = { tradesOn: 'futures', sides: ['buy'], maxAmount: null, maxNotional: null } as const;
    const huge = sized({ amount: parseDecimal('1000000') });
    const within = (changes: object) =>
      checkOrder(huge, { ...account, markets: { BTC_PERP: { ...limits, ...changes } } });

    expect(within({})).toBeNull();
    expect(within({ maxAmount: parseDecimal('1') })?.rule).toBe('max_amount');
    expect(within({ maxNotional: parseDecimal('1') })?.rule).toBe('max_notional');
  });

  test('holds no order that only reduces to the largest amount and notional, and keeps its price from errors', () => {
    const reduction = { side: 'sell', reduceOnly: true, amount: parseDecimal('1000000') } as const;

    expect(checkOrder(sized(reduction), account)).toBeNull();
    expect(checkOrder(sized({ ...reduction, reduceOnly: false, positionSide: 'LONG' }), account)).toBeNull();
    expect(checkOrder(sized({ ...reduction, price: parseDecimal('1') }), account)).toMatchObject({
      rule: 'max_limit_distance',
    });
  });

  const near = { market: 'ETH_PERP', amount: parseDecimal('1') };

  function checkPrices(side: 'buy' | 'sell', stop: string, limit: string, rate: string | null = '0.03') {
    const maxLimitDistanceRate = rate === null ? null : parseDecimal(rate);
    const prices = { activationPrice: parseDecimal(stop), price: parseDecimal(limit) };
    return checkOrder(sized({ ...near, side, ...prices }), { ...account, maxLimitDistanceRate });
  }

  test('denies a buy whose limit price lies too far above its stop price', () => {
    expect(checkPrices('buy', '60500', '99999')).toEqual({
      rule: 'max_limit_distance',
      limit: '62315',
      actual: '99999',
      message:
        "the limit price of a buy in ETH_PERP may be 62315 at most, 3% above its stop price 60500, and is 99999; correct the alert's prices, or raise maxLimitDistance of account main in relay.config.ts",
    });
  });

  test('denies a sell whose limit price lies too far below its stop price', () => {
    expect(checkPrices('sell', '60000', '600')).toEqual({
      rule: 'max_limit_distance',
      limit: '58200',
      actual: '600',
      message:
        "the limit price of a sell in ETH_PERP must be 58200 at least, 3% below its stop price 60000, and is 600; correct the alert's prices, or raise maxLimitDistance of account main in relay.config.ts",
    });
  });

  test.each([
    ['a limit price exactly at the bound of a buy', 'buy', '60500', '62315'],
    ['a limit price exactly at the bound of a sell', 'sell', '60000', '58200'],
    ['a buy that would pay less than its stop price', 'buy', '60500', '1'],
    ['a sell that would take more than its stop price', 'sell', '60000', '999999'],
    ['a stop price far from any market price', 'buy', '0.0001', '0.000103'],
  ] as const)('allows %s', (_, side, stop, limit) => {
    expect(checkPrices(side, stop, limit)).toBeNull();
  });

  test('allows any limit price if no distance is set, and none beyond the stop price if it is 0', () => {
    expect(checkPrices('buy', '60500', '99999', null)).toBeNull();
    expect(checkPrices('buy', '60500', '60500', '0')).toBeNull();
    expect(checkPrices('buy', '60500', '60500.01', '0')?.rule).toBe('max_limit_distance');
  });

  test('denies an order in a market the account has no limits for', () => {
    expect(checkOrder(sized({ market: 'SOL_PERP' }), account)?.rule).toBe('market_not_allowed');
    expect(checkOrder(sized({ market: '__proto__' }), account)?.rule).toBe('market_not_allowed');
  });
});

describe('denyOrderRate', () => {
  test('names the count and the limit', () => {
    expect(denyOrderRate(6, 5)).toEqual({
      rule: 'max_orders_per_minute',
      limit: '5',
      actual: '6',
      message:
        'this would be order 6 within a minute, and the account may place 5; slow the alerts down, or raise maxOrdersPerMinute',
    });
  });
});
