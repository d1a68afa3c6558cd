import * as z from 'zod/mini';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { OpenPosition } from '../../model/holdings.ts';
import { type PositionSide, positionSides } from '../../model/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { OptionalDecimalField, SecondsField } from '../fields.ts';

const PositionRecord = z.object({
  positionId: z.int().check(z.positive()),
  market: z.string(),
  amount: OptionalDecimalField,
  basePrice: OptionalDecimalField,
  positionSide: z._default(z.enum(positionSides), 'BOTH'),
  // The relay must see a position even when it cannot read what is only told about it.
  pnl: z.catch(OptionalDecimalField, undefined),
  unrealizedPnl: z.catch(OptionalDecimalField, undefined),
  margin: z.catch(OptionalDecimalField, undefined),
  liquidationPrice: z.catch(OptionalDecimalField, undefined),
  liquidationState: z.catch(z.nullish(z.string()), 'unreadable'),
  openDate: z.catch(z.nullish(SecondsField), null),
  modifyDate: z.catch(z.nullish(SecondsField), null),
});
type PositionRecord = z.output<typeof PositionRecord>;

/** A resting margin order is listed as a position without an amount. */
const HeldPositions = z.pipe(
  z.array(PositionRecord),
  z.transform((records): OpenPosition[] =>
    records.flatMap((record) => {
      const { amount } = record;
      return amount === undefined || amount.eq(zero) ? [] : [positionOf(record, amount)];
    }),
  ),
);

function positionOf(
  { positionId, market, positionSide, ...record }: PositionRecord,
  amount: Decimal,
): OpenPosition {
  return {
    positionId,
    market,
    positionSide,
    amount: signedAmount(amount, positionSide),
    basePrice: record.basePrice ?? null,
    realisedProfit: record.pnl ?? null,
    floatingProfit: record.unrealizedPnl ?? null,
    margin: record.margin ?? null,
    liquidationPrice: record.liquidationPrice ?? null,
    liquidationState: record.liquidationState ?? null,
    openedAtMs: record.openDate ?? null,
    modifiedAtMs: record.modifyDate ?? null,
  };
}

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
