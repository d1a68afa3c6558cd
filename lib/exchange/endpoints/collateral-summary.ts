import * as z from 'zod/mini';
import type { CollateralSummary } from '../../model/holdings.ts';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField, OptionalDecimalField } from '../fields.ts';

const SummaryField: z.ZodMiniType<CollateralSummary> = z.object({
  equity: DecimalField,
  margin: DecimalField,
  freeMargin: DecimalField,
  pnl: DecimalField,
  leverage: z.int().check(z.positive()),
  // Not in the public documents; independent clients received it.
  futuresFreeMargin: OptionalDecimalField,
});

/** Equity, margin and leverage of the collateral account. No other endpoint says the leverage. */
export const collateralSummary = defineEndpoint({
  name: 'collateral-summary',
  method: 'POST',
  path: {
    documented: '/api/v4/collateral-account/summary',
    live: '/api/v4/collateral-account/summary',
  },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  // The documents publish 12 000. The relay needs no more than 1000.
  requestsPer10s: 1000,
  params: z.strictObject({}),
  result: SummaryField,
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/collateral-account-summary',
    readOn: '2026-11-22',
  },
});
