import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField, FlagField } from '../fields.ts';

/** `flex` terms are a percentage with a minimum and a maximum fee. Zero means "none" in every field. */
const FeeTermsField = z.object({
  minFlex: DecimalField,
  maxFlex: DecimalField,
  percentFlex: DecimalField,
  fixed: DecimalField,
  minAmount: DecimalField,
  maxAmount: DecimalField,
});

/** The transfer fees and limits of each currency, for deposits and withdrawals. */
export const fees = defineEndpoint({
  name: 'fees',
  method: 'POST',
  path: { documented: '/api/v4/main-account/fee', live: '/api/v4/main-account/fee' },
  access: 'private',
  availability: 'documented',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({}),
  result: z.array(
    z.object({
      ticker: z.string(),
      name: z.string(),
      canDeposit: FlagField,
      canWithdraw: FlagField,
      deposit: FeeTermsField,
      withdraw: FeeTermsField,
    }),
  ),
  source: {
    url: 'https://docs.whitebit.com/api-reference/account-wallet/get-fees',
    readOn: '2026-11-22',
  },
});
