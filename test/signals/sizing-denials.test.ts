import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Market } from '../../lib/model/market.ts';
import type { StopLimitSignal } from '../../lib/model/signal.ts';
import { account, buy, sell, size } from './sized.ts';

describe('sizeOrder denies', () => {
  const cases: [string, StopLimitSignal, Partial<Market>, unknown][] = [
    [
      'a closed market',
      buy,
      { tradesEnabled: false },
      {
        rule: 'market_closed',
        limit: 'open',
        actual: 'closed',
        message: 'BTC_PERP is closed for trading; wait until the exchange opens it, or trade another market',
      },
    ],
    [
      'a market without collateral trading',
      buy,
      { isCollateral: false },
      {
        rule: 'market_not_collateral',
        limit: 'collateral',
        actual: 'spot',
        message:
          "BTC_PERP is a spot market without margin trading; write tradesOn: 'spot' in relay.config.ts, or map the ticker to another market",
      },
    ],
    [
      'a price below one step',
      { ...buy, stopPrice: '0.4', limitPrice: '1' },
      {},
      {
        rule: 'price_rounds_to_zero',
        limit: '0.5',
        actual: '0',
        message:
          'activationPrice is 0 after rounding to steps of 0.5 USDT; write a higher price for BTC_PERP',
      },
    ],
    [
      'a stop-loss that is a per cent without its sign',
      { ...buy, stopLoss: '2' },
      {},
      {
        rule: 'exit_too_far',
        limit: '25000',
        actual: '2',
        message:
          '"stopLoss" is a price of 2 USDT, less than half of the entry price of 50000; write a distance with its per cent sign, for example "2%", and a price so far away as its distance, for example "60%"',
      },
    ],
    [
      'a take-profit that is a per cent without its sign',
      { ...sell, stopLoss: '51000', takeProfit: '4' },
      {},
      {
        rule: 'exit_too_far',
        limit: '24950.25',
        actual: '4',
        message:
          '"takeProfit" is a price of 4 USDT, less than half of the entry price of 49900.5; write a distance with its per cent sign, for example "2%", and a price so far away as its distance, for example "60%"',
      },
    ],
    [
      'one of several take-profits that is a per cent without its sign',
      { ...sell, takeProfits: [{ price: '4', share: '50%' }] },
      {},
      {
        rule: 'exit_too_far',
        limit: '24950.25',
        actual: '4',
        message:
          '"takeProfits" is a price of 4 USDT, less than half of the entry price of 49900.5; write a distance with its per cent sign, for example "2%", and a price so far away as its distance, for example "60%"',
      },
    ],
    [
      'one of several take-profits on the wrong side of the entry price',
      {
        ...sell,
        takeProfits: [
          { price: '2%', share: '50%' },
          { price: '51000', share: '50%' },
        ],
      },
      {},
      {
        rule: 'take_profit_wrong_side',
        limit: 'below 49900.5',
        actual: '51000',
        message:
          'a take-profit of "takeProfits" is 51000, and must lie below the entry price of 49900.5: it would fill at once; correct it, or write a distance such as "2%"',
      },
    ],
    [
      'a stop-loss below one step',
      { ...sell, takeProfit: '60000', stopLoss: '0.2' },
      {},
      {
        rule: 'price_rounds_to_zero',
        limit: '0.5',
        actual: '0',
        message: 'stopLoss is 0 after rounding to steps of 0.5 USDT; write a higher price for BTC_PERP',
      },
    ],
    [
      'an amount below one step',
      { ...buy, size: { unit: 'base', quantity: '0.0009' } },
      {},
      {
        rule: 'amount_rounds_to_zero',
        limit: '0.001',
        actual: '0.0009',
        message: '0.0009 BTC is less than one step of 0.001; raise the size for BTC_PERP',
      },
    ],
    [
      'money for less than one step',
      { ...buy, size: { unit: 'quote', quoteQuantity: '7' } },
      {},
      {
        rule: 'amount_rounds_to_zero',
        limit: '0.001',
        actual: '0.00013972055',
        message: '0.00013972055 BTC is less than one step of 0.001; raise the size for BTC_PERP',
      },
    ],
    [
      'an amount below the minimum',
      { ...buy, size: { unit: 'base', quantity: '0.0019' } },
      {},
      {
        rule: 'min_amount',
        limit: '0.002',
        actual: '0.001',
        message: '0.001 BTC is below the minimum of 0.002; raise the size for BTC_PERP',
      },
    ],
    [
      'a notional below the minimum',
      buy,
      { minTotal: parseDecimal('501.01') },
      {
        rule: 'min_total',
        limit: '501.01',
        actual: '501',
        message: 'the order is worth 501 USDT, below the minimum of 501.01; raise the size for BTC_PERP',
      },
    ],
    [
      'a notional above the maximum',
      buy,
      { maxTotal: parseDecimal('500.99') },
      {
        rule: 'max_total',
        limit: '500.99',
        actual: '501',
        message: 'the order is worth 501 USDT, above the maximum of 500.99; lower the size for BTC_PERP',
      },
    ],
  ];
  test.each(cases)('%s', (_, signal, changes, denial) => {
    expect(size(signal, changes)).toEqual({ ok: false, denial });
  });

  test('a limit price that the offset takes below zero', () => {
    const wild = { ...account, limitOffsetRate: parseDecimal('1.5') };

    expect(size({ ...sell, limitPrice: null }, {}, wild)).toMatchObject({
      ok: false,
      denial: { rule: 'price_rounds_to_zero', limit: '0.5', actual: '-25000' },
    });
  });

  test('an order without a limit price when the account lost its offset', () => {
    expect(size({ ...buy, limitPrice: null }, {}, { ...account, limitOffsetRate: null })).toEqual({
      ok: false,
      denial: {
        rule: 'limit_price_missing',
        limit: 'a limit price or an offset',
        actual: 'neither',
        message:
          'the order has no limit price, and account main no longer has a limit offset; add one of them',
      },
    });
  });

  test('nothing that is exactly at a limit', () => {
    const exact = {
      minAmount: parseDecimal('0.01'),
      minTotal: parseDecimal('501'),
      maxTotal: parseDecimal('501'),
    };

    expect(size(buy, exact)).toMatchObject({ ok: true });
    expect(size(buy, { maxTotal: null })).toMatchObject({ ok: true });
  });
});
