import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

/** The balances of the main account by ticker. A missing ticker has no balance. */
export const mainBalance = defineEndpoint({
  name: 'main-balance',
  method: 'POST',
  path: { documented: '/api/v4/main-account/balance', live: '/api/v4/main-account/balance' },
  access: 'private',
  availability: 'documented',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({}),
  result: z.record(z.string(), z.object({ mainBalance: DecimalField })),
  source: {
    url: 'https://docs.whitebit.com/api-reference/account-wallet/main-balance',
    readOn: '2026-11-22',
  },
});
