import * as z from 'zod/mini';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { OpenPosition } from '../../model/holdings.ts';
import { type PositionSide, positionSides } from '../../model/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OptionalDecimalField } from '../fields.ts';

const PositionRecord = z.object({
  positionId: z.int().check(z.positive()),
  market: z.string(),
  amount: OptionalDecimalField,
  basePrice: OptionalDecimalField,
  positionSide: z._default(z.enum(positionSides), 'BOTH'),
});

/** A resting margin order is listed as a position without an amount. */
const HeldPositions = z.pipe(
  z.array(PositionRecord),
  z.transform((records): OpenPosition[] =>
    records.flatMap(({ amount, basePrice, ...record }) =>
      amount === undefined || amount.eq(zero)
        ? []
        : [{ ...record, amount: signedAmount(amount, record.positionSide), basePrice: basePrice ?? null }],
    ),
  ),
);

/** Captures show short amounts below zero. None of them is of hedge mode, where the side decides anyway. */
function signedAmount(amount: Decimal, side: PositionSide): Decimal {
  if (side === 'LONG') return amount.abs();
  return side === 'SHORT' ? amount.abs().times('-1') : amount;
}

/** The open positions of the collateral account, of one market or of all. */
export const openPositions = defineEndpoint({
  name: 'open-positions',
  method: 'POST',
  path: {
    documented: '/api/v4/collateral-account/positions/open',
    live: '/api/v4/collateral-account/positions/open',
  },
  access: 'private',
  availability: 'live-only',
  repeatable: true,
  // One page of the documents publishes 12 000, another one 100.
  requestsPer10s: 100,
  params: z.strictObject({ market: z.optional(z.string()) }),
  result: HeldPositions,
  source: {
    url: 'https://docs.whitebit.com/api-reference/collateral-trading/open-positions',
    readOn: '2026-11-22',
  },
});
