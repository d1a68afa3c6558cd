import * as z from 'zod/mini';
import { type Decimal, zero } from '../../base/decimal.ts';
import type { AttachedExits, OpenPosition } from '../../model/holdings.ts';
import { type PositionSide, positionSides } from '../../model/order.ts';
import { defineEndpoint } from '../endpoint.ts';
import { leniently, OptionalDecimalField, OrderIdField, SecondsField } from '../fields.ts';
import { cutWord, type ListPage, listOf, type RecordReader } from '../listed.ts';

const ExitIdField = leniently(
  z.pipe(
    z.nullish(OrderIdField),
    z.transform((id) => id ?? null),
  ),
  null,
);
const ExitPriceField = leniently(
  z.pipe(
    OptionalDecimalField,
    z.transform((price) => price ?? null),
  ),
  null,
);

const AttachedExitsField: z.ZodMiniType<AttachedExits> = z.object({
  stopLossId: ExitIdField,
  stopLoss: ExitPriceField,
  takeProfitId: ExitIdField,
  takeProfit: ExitPriceField,
});

const unreadableExits: AttachedExits = {
  stopLossId: null,
  stopLoss: null,
  takeProfitId: null,
  takeProfit: null,
};

const PositionRecord = z.object({
  positionId: z.int().check(z.positive()),
  market: z.string(),
  amount: OptionalDecimalField,
  basePrice: OptionalDecimalField,
  // Without a side that is known, nobody knows what the amount means.
  positionSide: z.nullish(z.enum(positionSides)),
  // The relay must see a position even when it cannot read what is only told about it.
  pnl: leniently(OptionalDecimalField, undefined),
  unrealizedPnl: leniently(OptionalDecimalField, undefined),
  margin: leniently(OptionalDecimalField, undefined),
  liquidationPrice: leniently(OptionalDecimalField, undefined),
  liquidationState: leniently(z.nullish(z.pipe(z.string(), z.transform(cutWord))), 'unreadable'),
  openDate: leniently(z.nullish(SecondsField), null),
  modifyDate: leniently(z.nullish(SecondsField), null),
  // What is there and cannot be read is not taken for nothing.
  tpsl: leniently(z.nullish(AttachedExitsField), unreadableExits),
});
type PositionRecord = z.output<typeof PositionRecord>;

const positionReader: RecordReader<PositionRecord> = {
  record: PositionRecord,
  unknownWords: ({ liquidationState: word }) =>
    typeof word === 'string' && !liquidationStates.has(word) ? [{ field: 'liquidationState', word }] : [],
};

/** The states that the exchange documents, and what stands for one that is no text. */
const liquidationStates: ReadonlySet<string> = new Set(['margin_call', 'liquidation', 'unreadable']);

/** A resting margin order is listed as a position without an amount. */
const HeldPositions = z.pipe(
  listOf(positionReader),
  z.transform(
    ({ records, ...page }): ListPage<OpenPosition> => ({
      ...page,
      records: records.flatMap((record) => {
        const { amount } = record;
        return amount === undefined || amount.eq(zero) ? [] : [positionOf(record, amount)];
      }),
    }),
  ),
);

function positionOf(
  { positionId, market, positionSide: side, ...record }: PositionRecord,
  amount: Decimal,
): OpenPosition {
  const positionSide = side ?? 'BOTH';
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
    tpsl: record.tpsl ?? null,
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
