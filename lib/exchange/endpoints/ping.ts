import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';

/** Checks that the API responds. */
export const ping = defineEndpoint({
  name: 'ping',
  method: 'GET',
  path: { documented: '/api/v4/public/ping', live: '/api/v4/public/ping' },
  access: 'public',
  availability: 'documented',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: z.tuple([z.literal('pong')]),
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/server-status',
    readOn: '2026-11-22',
  },
});
