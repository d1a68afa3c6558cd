import { describe, expect, test } from '@jest/globals';
import type { StopMarketSignal } from '../../lib/model/signal.ts';
import { kindNamed } from '../../lib/orders/order-kinds.ts';
import { account as plainAccount, size, buy as stopBuy } from '../signals/sized.ts';

const { limitPrice: _, ...common } = stopBuy;
const buy: StopMarketSignal = { ...common, orderType: 'stop_market' };
const sell: StopMarketSignal = { ...buy, side: 'sell' };
const unguarded = { ...plainAccount, allowUnguardedMarket: true };
const onSpot = { tradesOn: 'spot' } as const;
const spotMarket = { name: 'BTC_USDT', isFutures: false, isCollateral: false };

describe('a stop-market order', () => {
  test('is denied unless the account allows orders without a bound', () => {
    expect(size(buy)).toMatchObject({ denial: { rule: 'unguarded_market', actual: 'not set' } });
  });

  test('has a rounded trigger price and no limit price', () => {
    expect(size(buy, {}, unguarded)).toEqual({
      ok: true,
      order: {
        type: 'stop_market',
        market: 'BTC_PERP',
        side: 'buy',
        amount: '0.01',
        activationPrice: '50000',
        clientOrderId: 'tr-1',
      },
    });
  });

  test('for quote money is divided by the trigger price', () => {
    const asked = { unit: 'quote', quoteQuantity: '1000' } as const;

    expect(size({ ...buy, size: asked }, {}, unguarded)).toMatchObject({ order: { amount: '0.02' } });
  });

  test('on spot is bought for quote money and sold in base units', () => {
    const asked = { unit: 'quote', quoteQuantity: '1000.7' } as const;

    expect(size({ ...buy, size: asked }, spotMarket, unguarded, onSpot)).toMatchObject({
      order: { type: 'spot_stop_market', amount: '1000.5', activationPrice: '50000' },
    });
    expect(size(sell, spotMarket, unguarded, onSpot)).toMatchObject({
      order: { type: 'spot_stop_market', amount: '0.01', activationPrice: '50000.5' },
    });
  });

  test('on spot cannot buy an exact quantity, and says what to write', () => {
    expect(size(buy, spotMarket, unguarded, onSpot)).toMatchObject({
      denial: {
        rule: 'quote_size_needed',
        limit: 'quoteQuantity',
        actual: 'quantity',
      },
    });
  });

  test('is described in words', () => {
    const kind = kindNamed('stop_market');

    expect(kind.summarise(buy)).toBe('at market from 50000.3');
    expect(kind.describePrices({ ...buy, expectTrigger: 'above' })).toEqual([
      'stop 50000.3, then at market',
      'stop price expected above the last price',
    ]);
  });
});
