import { describe, expect, test } from '@jest/globals';
import { account, issueOf, marketOrder, marketSignal, readSignal, refusalOf } from './reading.ts';

describe('a market order alert', () => {
  test('needs a kind, a side and a size', () => {
    expect(readSignal(marketOrder({}))).toEqual(marketSignal);
  });

  test.each(['market', 'MARKET', ' Market '])('may write its kind as %s', (orderType) => {
    expect(readSignal(marketOrder({ orderType }))).toEqual(marketSignal);
  });

  test('may lower the slippage that the account allows', () => {
    expect(readSignal(marketOrder({ maxSlippage: '0.50 %' }))).toEqual({
      ...marketSignal,
      maxSlippage: '0.5%',
    });
  });

  test.each([
    [
      0.5,
      '"0.5" has no per cent sign, so it could be a per cent or a ratio',
      'write "0.5%" or "50%", whichever you mean',
    ],
    ['0%', '"0" is zero', 'write a number above zero, or leave the line out if it is optional'],
    ['-1%', '"-1" is negative', 'write a number above zero; "action" sets the direction'],
    ['101%', '"101%" is more than 100%', 'write at most 100%'],
    ['%', '"%" is a per cent', expect.any(String)],
    ['half%', '"half" is not a number', 'write the number in digits, with a point before decimals'],
    [true, 'true is not a number', 'write the number in digits, with a point before decimals'],
    [
      '{{plot_0}}%',
      '"{{plot_0}}" is a placeholder, not a number',
      expect.stringMatching(/^TradingView did not fill the placeholder/),
    ],
  ])('cannot lower it to %s', (maxSlippage, message, hint) => {
    expect(issueOf(marketOrder({ maxSlippage }))).toEqual({ path: 'maxSlippage', message, hint });
  });

  describe('without an order type', () => {
    const plain = { orderType: undefined };

    test('is one where the account says so, as it is shipped', () => {
      expect(readSignal(marketOrder(plain))).toEqual(marketSignal);
    });

    test('is refused where the account says so, with the likeliest kind first', () => {
      expect(issueOf(marketOrder(plain), { account: { ...account, defaultOrderType: null } })).toEqual({
        path: 'orderType',
        message: 'the alert has neither an order type nor a stop price',
        hint: 'add "orderType": "market" for a market order, or "orderType": "limit" for a limit order, or "orderType": "stop_limit" for a stop-limit order, or "orderType": "stop_market" for a stop-market order; the stop orders also need "stopPrice"',
      });
    });

    test('is refused where the account has no bound for it', () => {
      expect(issueOf(marketOrder(plain), { account: { ...account, maxSlippageRate: null } }).message).toBe(
        'the market order has no "maxSlippage", and account main has none either: it could fill at any price',
      );
    });

    test.each(['limitPrice', 'limit_price', 'LIMIT PRICE'])('is a limit order with %s', (name) => {
      expect(readSignal(marketOrder({ ...plain, [name]: 2990 }))).toEqual({
        ...marketSignal,
        orderType: 'limit',
        limitPrice: '2990',
      });
    });

    test.each(['price', 'Price'])(
      'is refused with %s, which could be the limit or the last price',
      (name) => {
        expect(issueOf(marketOrder({ ...plain, [name]: 2990 }))).toEqual({
          path: name,
          message: '"price" could be a limit, or the last price',
          hint: 'add "orderType": "market" if it is the last price, or "orderType": "limit" if it is the worst price you accept',
        });
      },
    );

    test('takes a price of zero for none', () => {
      expect(readSignal(marketOrder({ ...plain, price: '0' }))).toEqual({
        ...marketSignal,
        info: { price: '0' },
      });
    });

    test.each([{ postOnly: true }, { ioc: true }, { expectTrigger: 'above' }])(
      'has nothing of another kind: %j',
      (member) => {
        expect(refusalOf(marketOrder({ ...plain, ...member })).paths).toEqual(Object.keys(member));
      },
    );
  });

  describe('without a bound', () => {
    const unbound = { ...account, maxSlippageRate: null };

    test('is refused', () => {
      expect(issueOf(marketOrder({}), { account: unbound })).toEqual({
        path: 'maxSlippage',
        message:
          'the market order has no "maxSlippage", and account main has none either: it could fill at any price',
        hint: 'add "maxSlippage": "0.5%" to the alert or to the account in relay.config.ts; allowUnguardedMarket: true in the account allows orders without a bound',
      });
    });

    test('is taken when the account allows it', () => {
      const allowed = { ...unbound, allowUnguardedMarket: true };

      expect(readSignal(marketOrder({}), { account: allowed })).toEqual(marketSignal);
    });
  });

  test.each([
    [{ price: 3000 }, { referencePrice: '3000', info: { price: '3000' } }],
    [{ price: '0' }, { info: { price: '0' } }],
    [{ price: '{{close}}' }, { info: { price: '{{close}}' } }],
    [
      { price: 3000, referencePrice: 3001 },
      { referencePrice: '3001', info: { price: '3000' } },
    ],
  ])('takes a price as the last price: %j', (members, parts) => {
    expect(readSignal(marketOrder(members))).toEqual({ ...marketSignal, ...parts });
  });

  test.each([
    [{ limitPrice: 3000 }, 'a market order has no limit price'],
    [{ limit_price: 0 }, 'a market order has no limit price'],
    [{ stopPrice: 3000 }, 'a market order has no stop price'],
    [{ postOnly: true }, 'a market order never rests, so it cannot be post-only'],
    [{ ioc: true }, 'a market order always takes at once and cancels the rest'],
    [{ timeInForce: 'ioc' }, 'a market order always takes at once and cancels the rest'],
    [{ expectTrigger: 'above' }, 'a market order has no stop price that could be on the wrong side'],
  ])('refuses %j', (member, message) => {
    expect(issueOf(marketOrder(member))).toMatchObject({ path: Object.keys(member)[0], message });
  });
});

describe('a stop-market order alert', () => {
  const allowing = { account: { ...account, allowUnguardedMarket: true } };

  test.each(['stop_market', 'stop', 'SL-M', 'STOPMARKET'])('may write its kind as %s', (orderType) => {
    expect(readSignal(marketOrder({ orderType, stop_price: '3000' }), allowing)).toEqual({
      ...marketSignal,
      orderType: 'stop_market',
      stopPrice: '3000',
    });
  });

  test('is refused where the account allows no order without a bound', () => {
    expect(issueOf(marketOrder({ orderType: 'stop_market', stopPrice: 3000 }))).toEqual({
      path: 'orderType',
      message: 'a stop-market order can fill at any price, and account main does not allow that',
      hint: 'write "orderType": "stop_limit" with a "limitPrice", or set allowUnguardedMarket: true for the account in relay.config.ts',
    });
  });

  test('needs its stop price', () => {
    expect(issueOf(marketOrder({ orderType: 'stop_market' }), allowing)).toEqual({
      path: 'stopPrice',
      message: 'a stop-market order needs its stop price',
      hint: 'add "stopPrice"',
    });
  });

  test('refuses a limit price, so that a stop-limit order never loses its limit', () => {
    expect(issueOf(marketOrder({ orderType: 'stop', stopPrice: 3000, limitPrice: 3010 }), allowing)).toEqual({
      path: 'limitPrice',
      message: 'a stop-market order has no limit price',
      hint: 'remove it, or write "orderType": "stop_limit"',
    });
  });
});

describe('a stop-limit order alert', () => {
  test.each(['stop_limit', 'SL', 'STOPLIMIT'])('may write its kind as %s', (pricetype) => {
    const body = marketOrder({ orderType: undefined, pricetype, stopPrice: 3000, price: 3010 });

    expect(readSignal(body)).toEqual({
      ...marketSignal,
      orderType: 'stop_limit',
      stopPrice: '3000',
      limitPrice: '3010',
    });
  });

  test('without a kind is one by its stop price', () => {
    expect(readSignal(marketOrder({ orderType: undefined, stopPrice: 3000, price: 3010 }))).toMatchObject({
      orderType: 'stop_limit',
      limitPrice: '3010',
    });
  });
});

describe('a limit order alert', () => {
  const limit = { orderType: 'limit', price: 2990 };
  const signal = { ...marketSignal, orderType: 'limit', limitPrice: '2990' };

  test.each([
    [{ postOnly: true }, { postOnly: true }],
    // One that rests is not cut when it is placed.
    [
      { action: 'sell', positionSide: 'LONG' },
      { side: 'sell', positionSide: 'LONG' },
    ],
    [{ post_only: 'True' }, { postOnly: true }],
    [{ ioc: 1 }, { ioc: true }],
    [{ timeInForce: 'IOC' }, { ioc: true }],
    [{ tif: 'immediate_or_cancel' }, { ioc: true }],
    [{ tif: 'gtc' }, {}],
    [{ timeInForce: 'Good-Till-Cancelled' }, {}],
    [{ postOnly: false, ioc: 'false' }, {}],
    [{ postOnly: '0', ioc: '1' }, { ioc: true }],
    [{ stp: 'cn' }, { stp: 'cn' }],
    [{ stp: 'NO' }, { stp: 'no' }],
    [{ self_trade_prevention: 'cancel_both' }, { stp: 'cb' }],
    [{ stp: 'cancel_new' }, { stp: 'cn' }],
    [{ stp: 'cancel_old' }, { stp: 'co' }],
  ])('takes %j', (members, changes) => {
    expect(readSignal(marketOrder({ ...limit, ...members }))).toEqual({ ...signal, ...changes });
  });

  test.each([
    [
      { postOnly: true, ioc: true },
      {
        path: 'ioc',
        message: 'a post-only order only rests, and an immediate-or-cancel order never does',
        hint: 'keep "postOnly" or "ioc"',
      },
    ],
    [
      { postOnly: true, tif: 'ioc' },
      {
        path: 'tif',
        message: 'a post-only order only rests, and an immediate-or-cancel order never does',
        hint: 'keep "postOnly" or "ioc"',
      },
    ],
    [
      { ioc: false, tif: 'gtc' },
      { path: 'tif', message: '"ioc" says how long the order rests, too', hint: 'keep one of them' },
    ],
    [
      { postOnly: 'maybe' },
      {
        path: 'postOnly',
        message: '"maybe" is neither true nor false',
        hint: 'write true or false, or leave the line out for false',
      },
    ],
    [
      { ioc: 2 },
      {
        path: 'ioc',
        message: '"2" is neither true nor false',
        hint: 'write true or false, or leave the line out for false',
      },
    ],
    [
      { postOnly: null },
      {
        path: 'postOnly',
        message: 'null is neither true nor false',
        hint: 'write true or false, or leave the line out for false',
      },
    ],
    [
      { stp: 'cancel' },
      {
        path: 'stp',
        message: '"cancel" is not a mode of self-trade prevention',
        hint: 'write one of "no", "cb", "cn", "co"',
      },
    ],
    [
      { tif: 'forever' },
      {
        path: 'tif',
        message: '"forever" is not a time in force of the exchange',
        hint: 'write one of "gtc", "ioc"',
      },
    ],
    [
      { maxSlippage: '1%' },
      {
        path: 'maxSlippage',
        message: 'a limit order is bound by its limit price',
        hint: 'remove it, or write "orderType": "market" for an order that takes the best price within "maxSlippage"',
      },
    ],
  ])('refuses %j', (members, issue) => {
    expect(issueOf(marketOrder({ ...limit, ...members }))).toEqual(issue);
  });

  test('needs its limit price: the price of a wrong field is not taken', () => {
    expect(refusalOf(marketOrder({ orderType: 'limit', stopPrice: 2990 })).paths).toEqual([
      'stopPrice',
      'limitPrice',
    ]);
  });
});
