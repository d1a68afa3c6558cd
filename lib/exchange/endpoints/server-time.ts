import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';

/** The exchange's clock. The wire has whole seconds. */
export const serverTime = defineEndpoint({
  name: 'server-time',
  method: 'GET',
  path: { documented: '/api/v4/public/time', live: '/api/v4/public/time' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: z.pipe(
    z.object({ time: z.int() }),
    z.transform(({ time }) => ({ nowMs: time * 1000 })),
  ),
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/server-time',
    readOn: '2026-11-22',
  },
});
