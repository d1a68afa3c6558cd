import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { account, buy, sell, size } from './sized.ts';

describe('sizeOrder', () => {
  test('rounds amount, stop price and limit price of a buy down', () => {
    expect(size(buy)).toEqual({
      ok: true,
      order: {
        type: 'stop_limit',
        market: 'BTC_PERP',
        side: 'buy',
        amount: '0.01',
        price: '50100',
        activationPrice: '50000',
        clientOrderId: 'tr-1',
      },
    });
  });

  test('rounds the prices of a sell up, and its amount down', () => {
    expect(size(sell)).toEqual({
      ok: true,
      order: {
        type: 'stop_limit',
        market: 'BTC_PERP',
        side: 'sell',
        amount: '0.01',
        price: '49900.5',
        activationPrice: '50000.5',
        clientOrderId: 'tr-1',
      },
    });
  });

  test('leaves what is on the step as it is', () => {
    const exact = {
      ...buy,
      size: { unit: 'base', quantity: '0.010' },
      stopPrice: '50000.50',
      limitPrice: '50100',
    } as const;

    expect(size(exact)).toMatchObject({
      order: { amount: '0.01', price: '50100', activationPrice: '50000.5' },
    });
  });

  test('sets a missing limit price beyond the stop price: above for buys, below for sells', () => {
    expect(size({ ...buy, limitPrice: null })).toMatchObject({
      order: { price: '50500', activationPrice: '50000' },
    });
    expect(size({ ...sell, limitPrice: null })).toMatchObject({
      order: { price: '49500.5', activationPrice: '50000.5' },
    });
  });

  test('sets a missing limit price to the stop price when the offset is zero', () => {
    const noOffset = { ...account, limitOffsetRate: parseDecimal('0') };

    expect(size({ ...buy, limitPrice: null }, {}, noOffset)).toMatchObject({
      order: { price: '50000', activationPrice: '50000' },
    });
  });

  test('rounds stop-loss and take-profit of a long position so that they execute sooner', () => {
    expect(size({ ...buy, stopLoss: '49000.1', takeProfit: '52000.9' })).toMatchObject({
      order: { stopLoss: '49000.5', takeProfit: '52000.5' },
    });
  });

  test('rounds stop-loss and take-profit of a short position so that they execute sooner', () => {
    expect(size({ ...sell, stopLoss: '51000.9', takeProfit: '48000.1' })).toMatchObject({
      order: { stopLoss: '51000.5', takeProfit: '48000.5' },
    });
  });

  test.each([
    ['LONG', '49000.5'],
    ['SHORT', '49000'],
  ] as const)(
    'a named %s position decides how exits are rounded, whatever the side',
    (positionSide, stopLoss) => {
      for (const signal of [buy, sell])
        expect(size({ ...signal, positionSide, stopLoss: '49000.1' })).toMatchObject({
          order: { positionSide, stopLoss },
        });
    },
  );

  test('for positionSide BOTH, the side of the order decides, and no side is sent', () => {
    expect(size({ ...buy, positionSide: 'BOTH', stopLoss: '49000.1' })).toMatchObject({
      order: { stopLoss: '49000.5' },
    });
    expect(size({ ...sell, positionSide: 'BOTH', stopLoss: '49000.1' })).toMatchObject({
      order: { stopLoss: '49000' },
    });
  });

  test('divides a quote amount by the rounded limit price, and rounds down', () => {
    // 1000 / 50100 = 0.01996… ; 1000 / 49900.5 = 0.02003…
    expect(size({ ...buy, size: { unit: 'quote', quoteQuantity: '1000' } })).toMatchObject({
      order: { amount: '0.019', price: '50100' },
    });
    expect(size({ ...sell, size: { unit: 'quote', quoteQuantity: '1000' } })).toMatchObject({
      order: { amount: '0.02', price: '49900.5' },
    });
  });

  test.each(['0.99', '1', '1.01'])(
    'a spot sale is not cut to nothing where other strategies have %s of what is available, and the fees were large',
    (ofOthers) => {
      const [available, boughtBefore] = [parseDecimal('1'), parseDecimal('100')];
      const holding = {
        of: 'spot',
        currency: 'BTC',
        available,
        boughtBefore,
        ofOthers: parseDecimal(ofOthers),
      } as const;

      expect(size(sell, { isFutures: false }, account, { tradesOn: 'spot', holding })).toMatchObject({
        order: { amount: '0.01' },
      });
    },
  );

  test('loses no digit of a long decimal', () => {
    const fine = { amountStep: parseDecimal('1e-18'), minAmount: parseDecimal('1e-18') };

    expect(size({ ...buy, size: { unit: 'base', quantity: '0.1234567890123456789' } }, fine)).toMatchObject({
      order: { amount: '0.123456789012345678' },
    });
  });
});
