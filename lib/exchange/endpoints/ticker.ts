import * as z from 'zod/mini';
import type { Decimal } from '../../base/decimal.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

const ActivityRecord = z.object({ lastPrice: DecimalField });

/** A record that cannot be read must not hide the prices of all other markets, so its market is left out. */
const LastPrices = z.pipe(
  z.record(z.string(), z.unknown()),
  z.transform((records): Readonly<Record<string, Decimal>> => {
    const read = Object.entries(records).map(
      ([market, record]) => [market, ActivityRecord.safeParse(record)] as const,
    );
    return Object.fromEntries(
      read.flatMap(([market, { data }]) => (data === undefined ? [] : [[market, data.lastPrice]])),
    );
  }),
);

/** The last price of every market, in its quote currency. The exchange caches the response for a second. */
export const ticker = defineEndpoint({
  name: 'ticker',
  method: 'GET',
  path: { documented: '/api/v4/public/ticker', live: '/api/v4/public/ticker' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: LastPrices,
  fields: { live: { lastPrice: 'last_price' } },
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/market-activity',
    readOn: '2026-11-22',
  },
});
