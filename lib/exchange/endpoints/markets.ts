import * as z from 'zod/mini';
import { parseDecimal, stepOfPlaces, zero } from '../../base/decimal.ts';
import type { Market } from '../../model/market.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField, leniently, SecondsField } from '../fields.ts';

const PlacesField = z.pipe(
  z.string().check(z.regex(/^\d{1,2}$/, 'must be a count of decimals as text')),
  z.transform(Number),
);

const MarketRecord = z.pipe(
  z.object({
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
    type: z.enum(['spot', 'futures', 'tradfiFutures']),
    // A market is usable although this cannot be read.
    delistedAt: leniently(z.nullish(SecondsField), null),
  }),
  z.transform(
    ({
      stock,
      money,
      stockPrec,
      moneyPrec,
      makerFee,
      takerFee,
      maxTotal,
      type,
      delistedAt,
      ...market
    }): Market => ({
      ...market,
      base: stock,
      quote: money,
      amountStep: stepOfPlaces(stockPrec),
      priceStep: stepOfPlaces(moneyPrec),
      maxTotal: maxTotal.eq(zero) ? null : maxTotal,
      makerFeeRate: makerFee.div(parseDecimal('100')),
      takerFeeRate: takerFee.div(parseDecimal('100')),
      isFutures: type !== 'spot',
      ...(typeof delistedAt === 'number' ? { delistedAtMs: delistedAt } : {}),
    }),
  ),
);

/**
 * Drops records that cannot be read: one odd record among hundreds must not stop trading in all other
 * markets.
 */
const UsableMarkets = z.pipe(
  z.array(z.unknown()),
  z.transform((records, context): Market[] => {
    const read = records.map((record) => MarketRecord.safeParse(record));
    const usable = read.flatMap(({ data }) => (data === undefined ? [] : [data]));
    const complain = (message: string, path: PropertyKey[]) =>
      context.issues.push({ code: 'custom', input: records, message, path });
    if (read.length === 0) complain('must list at least one market', []);
    const [first] = read;
    // If no record can be read, the response has another shape than expected. The first record's issues
    // describe it.
    if (usable.length === 0 && first?.error !== undefined)
      for (const { path, message } of first.error.issues) complain(message, [0, ...path]);
    return usable;
  }),
);

/** Every usable market with its precision, minimum sizes and fees. */
export const markets = defineEndpoint({
  name: 'markets',
  method: 'GET',
  path: { documented: '/api/v4/public/markets', live: '/api/v4/public/markets' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: UsableMarkets,
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/market-info',
    readOn: '2026-11-22',
  },
});
