import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { MarketSignal } from '../../lib/model/signal.ts';
import { describeOrder, kindNamed } from '../../lib/orders/order-kinds.ts';
import { account as plainAccount, size, buy as stopBuy } from '../signals/sized.ts';

const { stopPrice: _, limitPrice: __, ...common } = stopBuy;
const buy: MarketSignal = { ...common, orderType: 'market', size: { unit: 'base', quantity: '0.0109' } };
const sell: MarketSignal = { ...buy, side: 'sell' };

const guarded = { ...plainAccount, maxSlippageRate: parseDecimal('0.005') };
const unguarded = { ...plainAccount, allowUnguardedMarket: true };
const at = (price: string) => ({ oppositePrice: parseDecimal(price) });
const spotMarket = { name: 'BTC_USDT', isFutures: false, isCollateral: false };

describe('a guarded market order', () => {
  test('goes out as a limit at the best opposite price and the allowance, which takes at once', () => {
    expect(size(buy, {}, guarded, at('50000'))).toEqual({
      ok: true,
      order: {
        type: 'limit',
        market: 'BTC_PERP',
        side: 'buy',
        amount: '0.01',
        price: '50250',
        ioc: true,
        clientOrderId: 'tr-1',
      },
    });
    expect(size(sell, {}, guarded, at('50000'))).toMatchObject({
      order: { type: 'limit', side: 'sell', price: '49750', ioc: true },
    });
  });

  test('has its bound rounded toward the best price, never beyond the allowance', () => {
    expect(size(buy, {}, guarded, at('50001'))).toMatchObject({ order: { price: '50251' } });
    expect(size(sell, {}, guarded, at('50001'))).toMatchObject({ order: { price: '49751' } });
  });

  test('takes only the best price when the allowance is zero', () => {
    const none = { ...plainAccount, maxSlippageRate: parseDecimal('0') };

    expect(size(buy, {}, none, at('50000.5'))).toMatchObject({ order: { price: '50000.5' } });
  });

  test('is bound by the alert when that lowers the allowance, and denied when it raises it', () => {
    expect(size({ ...buy, maxSlippage: '0.1%' }, {}, guarded, at('50000'))).toMatchObject({
      order: { price: '50050' },
    });
    expect(size({ ...buy, maxSlippage: '0.6%' }, {}, guarded, at('50000'))).toMatchObject({
      denial: { rule: 'max_slippage', limit: '0.5%', actual: '0.6%' },
    });
  });

  test('is bound by the alert alone when the account sets no allowance', () => {
    expect(size({ ...buy, maxSlippage: '1%' }, {}, plainAccount, at('50000'))).toMatchObject({
      order: { price: '50500', ioc: true },
    });
  });

  test('on spot is a spot limit order', () => {
    expect(size(buy, spotMarket, guarded, { tradesOn: 'spot', ...at('50000') })).toMatchObject({
      order: { type: 'spot_limit', price: '50250', ioc: true },
    });
  });

  test('sized in the quote currency never costs more than asked, nor sells more than asked', () => {
    const quote = { unit: 'quote', quoteQuantity: '1000' } as const;

    expect(size({ ...buy, size: quote }, {}, guarded, at('50000'))).toMatchObject({
      order: { amount: '0.019', price: '50250' },
    });
    expect(size({ ...sell, size: quote }, {}, guarded, at('50000'))).toMatchObject({
      order: { amount: '0.02', price: '49750' },
    });
  });

  test('measures the distances of stop-loss and take-profit from the best opposite price', () => {
    expect(size({ ...buy, stopLoss: '2%', takeProfit: '4%' }, {}, guarded, at('50000'))).toMatchObject({
      order: { stopLoss: '49000', takeProfit: '52000' },
    });
    expect(size({ ...sell, stopLoss: '2%', takeProfit: '4%' }, {}, guarded, at('50000'))).toMatchObject({
      order: { stopLoss: '51000', takeProfit: '48000' },
    });
  });

  test('is denied while nobody offers the other side', () => {
    expect(size(buy, {}, guarded)).toMatchObject({ denial: { rule: 'empty_book', actual: 'none' } });
  });
});

describe('a market order without a bound', () => {
  test('is denied unless the account allows it', () => {
    expect(size(buy, {}, plainAccount, at('50000'))).toMatchObject({
      denial: { rule: 'unguarded_market', limit: 'a maxSlippage', actual: 'none' },
    });
  });

  test('is the market order of the exchange', () => {
    expect(size(buy, {}, unguarded, at('50000'))).toEqual({
      ok: true,
      order: { type: 'market', market: 'BTC_PERP', side: 'buy', amount: '0.01', clientOrderId: 'tr-1' },
    });
  });

  test.each([
    ['a buy of base units', buy, { unit: 'base', quantity: '0.0109' }, 'spot_stock_market', '0.01'],
    ['a sell of base units', sell, { unit: 'base', quantity: '0.0109' }, 'spot_stock_market', '0.01'],
    ['a buy for quote money', buy, { unit: 'quote', quoteQuantity: '1000.7' }, 'spot_market', '1000.5'],
    ['a sell for quote money', sell, { unit: 'quote', quoteQuantity: '1000' }, 'spot_stock_market', '0.02'],
  ] as const)('on spot: %s', (_name, signal, asked, type, amount) => {
    const order = size({ ...signal, size: asked }, spotMarket, unguarded, {
      tradesOn: 'spot',
      ...at('50000'),
    });

    expect(order).toMatchObject({ ok: true, order: { type, amount } });
  });

  test('is checked against the limits of its market at the best opposite price', () => {
    const huge = { unit: 'base', quantity: '3' } as const;

    expect(size({ ...buy, size: huge }, {}, unguarded, at('50000'))).toMatchObject({
      denial: { rule: 'max_total', actual: '150000' },
    });
  });
});

test('a market order is described in words', () => {
  const kind = kindNamed('market');

  expect(kind.summarise(buy)).toBe('at market');
  expect(kind.describePrices({ ...buy, maxSlippage: '0.5%' })).toEqual([
    'at market, at most 0.5% beyond the best price',
  ]);
  const order = {
    type: 'limit',
    market: 'BTC_PERP',
    amount: parseDecimal('0.01'),
    price: parseDecimal('50250'),
    clientOrderId: 'tr-1',
  } as const;
  expect(describeOrder({ ...order, side: 'buy' }, 'market')).toBe(
    'buy 0.01 BTC_PERP at market, at most 50250',
  );
  expect(describeOrder({ ...order, side: 'sell' }, 'market')).toBe(
    'sell 0.01 BTC_PERP at market, at least 50250',
  );
});
