import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { cutWord } from '../listed.ts';

const operational = 'system operational';

/** Whether the exchange is in planned maintenance: its only early word of it. Any other word than the usual one counts. */
export const platformStatus = defineEndpoint({
  name: 'platform-status',
  method: 'GET',
  path: { documented: '/api/v4/public/platform/status', live: '/api/v4/public/platform/status' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: z.pipe(
    z.object({ status: z.string() }),
    z.transform(({ status }) => ({ isOperational: status === operational, word: cutWord(status) })),
  ),
  source: {
    url: 'https://docs.whitebit.com/api-reference/market-data/maintenance-status',
    readOn: '2026-11-24',
  },
});
