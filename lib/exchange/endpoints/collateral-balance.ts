import * as z from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

/**
 * What the collateral account holds, in units of each asset, what is borrowed left out of it.
 *
 * The other endpoint for it, `collateral-account/balance`, is seen to answer with JSON numbers, which would not stay
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
  // 12 000 are published of late, 1000 before; nothing here needs more.
  requestsPer10s: 1000,
  params: z.strictObject({}),
  result: z.array(z.object({ asset: z.string(), balance: DecimalField, borrow: DecimalField })),
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-account-balance-summary',
    readOn: '2026-11-22',
  },
});
