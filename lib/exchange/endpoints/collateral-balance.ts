import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

/**
 * The balances of the collateral account, in units of each asset, without borrowed funds.
 *
 * The other endpoint, `collateral-account/balance`, was seen to return JSON numbers, which would not stay
 * exact.
 */
export const collateralBalance = defineEndpoint({
  name: 'collateral-balance',
  method: 'POST',
  path: {
    documented: '/api/v4/collateral-account/balance-summary',
    live: '/api/v4/collateral-account/balance-summary',
  },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  // The documents now publish 12 000, earlier ones 1000. The relay needs no more than 1000.
  requestsPer10s: 1000,
  params: z.strictObject({}),
  result: z.array(z.object({ asset: z.string(), balance: DecimalField, borrow: DecimalField })),
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-account-balance-summary',
    readOn: '2026-11-22',
  },
});
