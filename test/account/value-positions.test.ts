import { expect, test } from '@jest/globals';
import { valuePositions } from '../../lib/account/read-exposure.ts';
import type { UsdtPrices } from '../../lib/account/usdt-prices.ts';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { OpenPosition } from '../../lib/model/holdings.ts';

/** One USDC is worth two USDT here, so that a missing rate shows. */
const prices: UsdtPrices = {
  rateOf: async (quote) =>
    quote === 'USDC' ? parseDecimal('2') : quote === 'USDT' ? parseDecimal('1') : null,
  lastOf: async (market) => (market === 'XRP_USDT' ? null : parseDecimal('90')),
};

function position(changes: Partial<OpenPosition>): OpenPosition {
  return {
    market: 'BTC_USDT',
    positionSide: 'BOTH',
    amount: parseDecimal('2'),
    basePrice: parseDecimal('100'),
    floatingProfit: null,
    ...changes,
  } as OpenPosition;
}

test.each<[what: string, changes: Partial<OpenPosition>, notional: string, floating: string]>([
  ['a long position that gained', { floatingProfit: parseDecimal('30') }, '230', '30'],
  ['a long position that lost', { floatingProfit: parseDecimal('-30') }, '170', '-30'],
  [
    'a short position that gained',
    { amount: parseDecimal('-2'), floatingProfit: parseDecimal('30') },
    '170',
    '30',
  ],
  ['one of another quote currency', { market: 'BTC_USDC', floatingProfit: parseDecimal('30') }, '460', '60'],
  ['one whose profit is not listed', {}, '180', '-20'],
  ['a short one whose profit is not listed', { amount: parseDecimal('-2') }, '180', '20'],
])('%s counts at what it is worth now, not at its entry price', async (_, changes, notional, floating) => {
  const valued = await valuePositions([position(changes)], prices);

  expect(valued.unknown).toEqual([]);
  expect(valued.positions.map((each) => formatDecimal(each.notional))).toEqual([notional]);
  expect(formatDecimal(valued.floating)).toBe(floating);
});

test.each<[what: string, changes: Partial<OpenPosition>, unknown: string]>([
  ['currency', { market: 'BTC_TRY' }, 'the value of the position in BTC_TRY in USDT is not known'],
  [
    'entry price',
    { basePrice: null },
    'the exchange does not say the entry price of the position in BTC_USDT',
  ],
  ['last price', { market: 'XRP_USDT' }, 'the profit of the position in XRP_USDT is not known'],
])('without its %s the value is not known', async (_, changes, unknown) => {
  const valued = await valuePositions([position(changes)], prices);

  expect(valued.unknown).toEqual([unknown]);
  expect(valued.positions.map((each) => formatDecimal(each.notional))).toEqual(['0']);
});
