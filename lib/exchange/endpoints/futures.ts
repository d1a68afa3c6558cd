import * as z from 'zod/mini';
import { formatDecimal } from '../../base/decimal.ts';
import type { FuturesTerms } from '../../model/market-data.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

/** A count or an amount, as a JSON number or as text. */
const NumberField = z.pipe(z.union([z.pipe(z.number(), z.transform(String)), z.string()]), DecimalField);

const TermsRecord = z.object({
  market: z.string(),
  maxLeverage: z.pipe(
    z.pipe(
      NumberField,
      z.transform((value) => Number(formatDecimal(value))),
    ),
    z.int().check(z.positive()),
  ),
  brackets: z.record(z.string().check(z.regex(/^\d{1,4}$/)), NumberField),
});

/** Leaves out what cannot be read: an odd market must not hide all others. */
const TermsByMarket = z.pipe(
  z.object({ success: z.literal(true), result: z.array(z.unknown()) }),
  z.transform(({ result }): Readonly<Record<string, FuturesTerms>> => {
    const read = result.flatMap((record) => TermsRecord.safeParse(record).data ?? []);
    return Object.fromEntries(read.map(({ market, ...terms }) => [market, terms]));
  }),
);

/** The leverage that each perpetual market allows. The exchange caches the response for a second. */
export const futures = defineEndpoint({
  name: 'futures',
  method: 'GET',
  path: { documented: '/api/v4/public/futures', live: '/api/v4/public/futures' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: TermsByMarket,
  fields: { live: { market: 'ticker_id', maxLeverage: 'max_leverage' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/available-futures-markets-list',
    readOn: '2026-11-22',
  },
});
