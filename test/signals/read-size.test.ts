import { describe, expect, test } from '@jest/globals';
import type { OrderSize } from '../../lib/model/signal.ts';
import { accountOn, issueOf, marketOrder, marketSignal, readSignal } from './reading.ts';

const balance = (quantityPercent: string): OrderSize => ({
  unit: 'percent',
  quantityPercent: quantityPercent as `${string}%`,
  of: 'balance',
});
const position = (quantityPercent: string): OrderSize => ({
  ...(balance(quantityPercent) as Extract<OrderSize, { unit: 'percent' }>),
  of: 'position',
});

describe('the size of an order', () => {
  test.each<[Readonly<Record<string, unknown>>, OrderSize]>([
    [{ quantityPercent: '5%' }, balance('5%')],
    [{ quantity_percent: 5 }, balance('5%')],
    [{ quantityPercent: '12.50' }, balance('12.5%')],
    [{ quantity: '5%' }, balance('5%')],
    [{ quantity: ' 100 % ' }, balance('100%')],
    [{ quantity: '0.5%' }, balance('0.5%')],
    [{ quantity: '5%', of: 'balance' }, balance('5%')],
    [{ quantity: 5, quantityType: 'percent' }, balance('5%')],
    [{ quantity: '5%', quantityType: 'percent' }, balance('5%')],
    [
      { quantity: 2, quantityType: 'base' },
      { unit: 'base', quantity: '2' },
    ],
    [
      { quantity: 2, quantity_type: 'fixed_quantity' },
      { unit: 'base', quantity: '2' },
    ],
    [
      { quantity: 2, currency_type: 'Base' },
      { unit: 'base', quantity: '2' },
    ],
    [
      { quantity: 2, qty_type: 'contracts' },
      { unit: 'base', quantity: '2' },
    ],
    [
      { quantity: 100, currency_type: 'quote' },
      { unit: 'quote', quoteQuantity: '100' },
    ],
    [{ quote_amount: 100 }, { unit: 'quote', quoteQuantity: '100' }],
  ])('of %j is %j', (members, size) => {
    const given = 'quote_amount' in members || 'quantity_percent' in members ? { quantity: undefined } : {};

    expect(readSignal(marketOrder({ ...given, ...members }))).toEqual({ ...marketSignal, size });
  });

  test.each<[Readonly<Record<string, unknown>>, OrderSize]>([
    [{ quantityPercent: '50%', of: 'position' }, position('50%')],
    [{ quantity: '100%', of: 'Position' }, position('100%')],
    [{ quantity: 50, quantityType: 'percent_of_position' }, position('50%')],
    [{ quantity: 50, quantityType: 'percent_of_position', of: 'position' }, position('50%')],
  ])('of %j is a share of the position, and the order only reduces it', (members, size) => {
    expect(readSignal(marketOrder(members))).toEqual({ ...marketSignal, size, reduceOnly: true });
  });

  test.each([
    ['base', { unit: 'base', quantity: '100' }],
    ['quote', { unit: 'quote', quoteQuantity: '100' }],
  ])('may be an amount per trade in %s units', (amountPerTradeType, size) => {
    const body = marketOrder({ quantity: undefined, amountPerTrade: 100, amountPerTradeType });

    expect(readSignal(body)).toEqual({ ...marketSignal, size });
  });

  test('is refused as an amount per trade without its unit', () => {
    expect(issueOf(marketOrder({ quantity: undefined, amountPerTrade: 100 }))).toEqual({
      path: 'amountPerTrade',
      message: 'the alert does not say in which unit it is',
      hint: 'add "amountPerTradeType": "base" or "quote"',
    });
  });

  test.each([
    [{ quantityPercent: 0 }, 'quantityPercent', '"0" is zero'],
    [{ quantityPercent: '0%' }, 'quantityPercent', '"0" is zero'],
    [{ quantity: '100.01%' }, 'quantity', '"100.01%" is more than 100%'],
    [{ quantityPercent: 101 }, 'quantityPercent', '"101" is more than 100%'],
    [
      { quantityPercent: 0.05 },
      'quantityPercent',
      '"0.05" has no per cent sign, so it could be a per cent or a ratio',
    ],
    [
      { quantityPercent: 1 },
      'quantityPercent',
      '"1" has no per cent sign, so it could be a per cent or a ratio',
    ],
    [
      { quantity: 1, quantityType: 'percent' },
      'quantity',
      '"1" has no per cent sign, so it could be a per cent or a ratio',
    ],
    [{ quantity: '50%p' }, 'quantity', '"50%p" is a per cent in the notation of another relay'],
    [
      { quantity: '5%', quantityType: 'base' },
      'quantityType',
      '"quantity" is a per cent, but its unit is "base"',
    ],
    [
      { quantity: '5%', quantityType: 'quote' },
      'quantityType',
      '"quantity" is a per cent, but its unit is "quote"',
    ],
    [
      { quoteQuantity: 5, quantityType: 'quote' },
      'quantityType',
      'it is the unit of "quantity", which the alert does not have',
    ],
    [
      { quantity: 5, of: 'position' },
      'of',
      '"of" says what a per cent is a share of, but the size is no per cent',
    ],
    [
      { quoteQuantity: 5, of: 'balance' },
      'of',
      '"of" says what a per cent is a share of, but the size is no per cent',
    ],
    [{ quantityPercent: '5%', of: 'equity' }, 'of', '"equity" is not something to take a share of'],
    [{ quantity: 5, quantityPercent: '5%' }, 'quantityPercent', 'the size is given more than once'],
    [{ quoteQuantity: 5, quantityPercent: '5%' }, 'quantityPercent', 'the size is given more than once'],
    [{ quantity: 5, quantityType: 'lots' }, 'quantityType', '"lots" is not a unit of a size'],
    [{ quantity: 5, quantityType: 7 }, 'quantityType', '"7" is not a unit of a size'],
  ])('cannot be %j', (members, path, message) => {
    expect(issueOf(marketOrder(members))).toMatchObject({ path, message });
  });

  test('cannot be a share of two things', () => {
    const members = { quantity: 50, quantityType: 'percent_of_position', of: 'balance' };

    expect(issueOf(marketOrder(members))).toEqual({
      path: 'of',
      message: 'the unit of the size is a share of the position',
      hint: 'keep one of them',
    });
  });

  test('in per cent of an order that only reduces must say what it is a share of', () => {
    expect(issueOf(marketOrder({ quantity: '50%', reduceOnly: true }))).toEqual({
      path: 'quantity',
      message:
        'the order only reduces a position, and the alert does not say what the per cent is a share of',
      hint: 'add "of": "position", or "of": "balance" for a share of the free collateral',
    });
    expect(readSignal(marketOrder({ quantity: '50%', of: 'balance', reduceOnly: true }))).toEqual({
      ...marketSignal,
      size: balance('50%'),
      reduceOnly: true,
    });
  });

  test('in per cent on a spot market is a share of what is available, also when the order leaves a position', () => {
    const account = accountOn('ETH_USDT', 'spot');
    const body = marketOrder({ action: 'exit_long', quantityPercent: '50%' });

    expect(readSignal(body, { account })).toEqual({
      ...marketSignal,
      side: 'sell',
      size: balance('50%'),
      reduceOnly: true,
    });
  });
});
