import * as z from 'zod/mini';
import { type Candle, candleIntervals } from '../../model/market-data.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DateField, DecimalField } from '../fields.ts';

/** The beginning in seconds, open, close, high, low; then volumes, which nothing here needs. */
const CandleRow = z.pipe(
  z.tuple([z.int(), DecimalField, DecimalField, DecimalField, DecimalField], z.unknown()),
  z.transform(
    ([seconds, open, close, high, low]): Candle => ({ beginsAtMs: seconds * 1000, open, high, low, close }),
  ),
);

/** A row that cannot be read is left out: candles are looked at, and nothing is decided by them. */
const Candles = z.pipe(
  z.object({ success: z.literal(true), result: z.array(z.unknown()) }),
  z.transform(({ result }): readonly Candle[] =>
    result.flatMap((row) => CandleRow.safeParse(row).data ?? []),
  ),
);

/** The prices of a market over time, oldest first. At most 1440 candles. */
export const candles = defineEndpoint({
  name: 'candles',
  method: 'GET',
  path: { documented: '/api/v1/public/kline', live: '/api/v1/public/kline' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    market: z.string(),
    interval: z.enum(candleIntervals),
    /** The first and last beginning, in seconds. */
    start: z.optional(DateField),
    end: z.optional(DateField),
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(1440))),
  }),
  result: Candles,
  source: { url: 'https://docs.whitebit.com/api-reference/market-data/kline', readOn: '2026-11-24' },
});
