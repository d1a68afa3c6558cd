import * as z from 'zod/mini';
import { zero } from '../../base/decimal.ts';
import type { OrderBook, PriceLevel } from '../../model/market-data.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

/** One level that cannot be read makes the whole book unreadable: without it, another price would look best. */
const LevelField = z.pipe(
  z
    .tuple([DecimalField, DecimalField])
    .check(
      z.refine(
        ([price, amount]) => price.gt(zero) && amount.gt(zero),
        'must be a price and an amount above zero',
      ),
    ),
  z.transform(([price, amount]): PriceLevel => ({ price, amount })),
);

/**
 * The resting orders nearest to the last price. The exchange caches the response for 100 ms.
 *
 * @see DECISIONS 125
 */
export const orderBook = defineEndpoint({
  name: 'order-book',
  method: 'GET',
  path: {
    documented: '/api/v4/public/orderbook/{market}',
    live: '/api/v4/public/orderbook/{market}',
  },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 600,
  params: z.strictObject({
    market: z.string(),
    /** How many prices on each side. Default: 100. */
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(100))),
    /** How far prices are rounded before they are added up. Default: 0, not at all. */
    level: z.optional(z.int().check(z.minimum(0), z.maximum(10))),
  }),
  result: z.pipe(
    z.object({ timestamp: z.int(), asks: z.array(LevelField), bids: z.array(LevelField) }),
    z.transform(
      ({ timestamp, asks, bids }): OrderBook => ({
        timestampMs: timestamp * 1000,
        // The order of the levels is not documented.
        asks: asks.toSorted((a, b) => a.price.cmp(b.price)),
        bids: bids.toSorted((a, b) => b.price.cmp(a.price)),
      }),
    ),
  ),
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/orderbook',
    readOn: '2026-11-22',
  },
});
