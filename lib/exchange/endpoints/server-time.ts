import * as z from 'zod';
import { defineEndpoint } from '../endpoint.ts';

/** The exchange's clock, in whole seconds. */
export const serverTime = defineEndpoint({
  name: 'server-time',
  method: 'GET',
  path: { documented: '/api/v4/public/time', live: '/api/v4/public/time' },
  access: 'public',
  availability: 'live-only',
  repeatable: true,
  requestsPer10s: 2000,
  params: z.strictObject({}),
  result: z.object({ time: z.int() }).transform(({ time }) => ({ nowMs: time * 1000 })),
  source: 'live service, public/time',
});
