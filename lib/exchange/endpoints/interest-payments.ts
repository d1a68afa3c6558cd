import * as z from 'zod/mini';
import { defineEndpoint } from '../endpoint.ts';
import { DecimalField } from '../fields.ts';

/** One page of the interest paid to a business partner's account. Other accounts are refused with 403. */
export const interestPayments = defineEndpoint({
  name: 'interest-payments',
  method: 'POST',
  path: {
    documented: '/api/v4/main-account/smart/interest-payment-history',
    live: '/api/v4/main-account/smart/interest-payment-history',
  },
  access: 'private',
  availability: 'documented',
  repeatable: true,
  requestsPer10s: 1000,
  params: z.strictObject({
    planId: z.optional(z.string()),
    ticker: z.optional(z.string()),
    limit: z.optional(z.int().check(z.minimum(1), z.maximum(100))),
    offset: z.optional(z.int().check(z.minimum(0), z.maximum(10_000))),
  }),
  result: z.object({
    offset: z.int(),
    limit: z.int(),
    records: z.array(
      z.pipe(
        z.object({
          planId: z.string(),
          investmentId: z.string(),
          amount: DecimalField,
          ticker: z.string(),
          timestamp: z.int(),
        }),
        z.transform(({ timestamp, ...payment }) => ({ ...payment, paidAtMs: timestamp * 1000 })),
      ),
    ),
  }),
  source: {
    url: 'https://docs.whitebit.com/api-reference/account-wallet/get-interest-payments-history',
    readOn: '2026-11-22',
  },
});
