import * as z from 'zod';
import { parseDecimal, stepOfPlaces, zero } from '../../base/decimal.ts';
import type { Market } from '../../model/market.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

const PlacesField = z
  .string()
  .regex(/^\d{1,2}$/, 'must be a count of decimals as text')
  .transform(Number);

const MarketRecord = z
  .object({
    name: z.string(),
    stock: z.string(),
    money: z.string(),
    stockPrec: PlacesField,
    moneyPrec: PlacesField,
    makerFee: DecimalField,
    takerFee: DecimalField,
    minAmount: DecimalField,
    minTotal: DecimalField,
    maxTotal: DecimalField,
    tradesEnabled: z.boolean(),
    isCollateral: z.boolean(),
  })
  .transform(
    ({ stockPrec, moneyPrec, makerFee, takerFee, maxTotal, ...market }): Market => ({
      ...market,
      amountStep: stepOfPlaces(stockPrec),
      priceStep: stepOfPlaces(moneyPrec),
      maxTotal: maxTotal.eq(zero) ? null : maxTotal,
      makerFeeRate: makerFee.div(parseDecimal('100')),
      takerFeeRate: takerFee.div(parseDecimal('100')),
    }),
  );

/** Every market with its precision, minima and fees. */
export const markets = defineEndpoint({
  name: 'markets',
  method: 'GET',
  path: { documented: '/api/v4/public/markets', live: '/api/v4/public/markets' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: z.array(MarketRecord),
  source: 'live service, public/markets',
});
