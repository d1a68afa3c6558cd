import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import { type PositionSide, positionSides } from '../model/order.ts';
import type { PositionsReading } from './read-positions.ts';

/** A position that became smaller between two readings, was closed or turned. */
export interface Reduction {
  readonly market: string;
  readonly positionSide: PositionSide;
  /** Signed, in base units. */
  readonly from: Decimal;
  readonly to: Decimal;
  /** When the position was last seen unreduced. */
  readonly sinceMs: number;
  /** When the reduction was first seen. */
  readonly seenAtMs: number;
  /** The last change before it that is known, on the exchange's clock; null: an older release stored none, or nobody said. */
  readonly changedAtMs: number | null;
}

/** The clocks of exchange and relay may differ, and a reading takes time. */
export const reductionMarginMs = 60_000;

/** The positions that are smaller now, closed or turned. */
export function findReductions(before: PositionsReading, now: PositionsReading): readonly Reduction[] {
  return before.positions.flatMap((position) => {
    const { market, positionSide, amount: from, modifiedAtMs: changedAtMs } = position;
    const to = amountIn(now, market, positionSide);
    if (!isSmaller(from, to)) return [];
    const times = { sinceMs: before.wholeAtMs, seenAtMs: now.readAtMs, changedAtMs };
    return [{ market, positionSide, from, to, ...times }];
  });
}

/** Whether the position is as large again as before: a list that lagged behind had shown it without its last fill. */
export function isBack({ market, positionSide, from }: Reduction, now: PositionsReading): boolean {
  return !isSmaller(from, amountIn(now, market, positionSide));
}

/** Zero for a position that is not open. */
export function amountIn({ positions }: PositionsReading, market: string, side: PositionSide): Decimal {
  return positions.find((one) => one.market === market && one.positionSide === side)?.amount ?? zero;
}

/** Whether a position was reduced, closed or turned. */
export function isSmaller(from: Decimal, to: Decimal): boolean {
  if (from.eq(zero)) return false;
  return from.gt(zero) ? to.lt(from) : to.gt(from);
}

export function describeReductions(reductions: readonly Reduction[]): Json {
  return reductions.map(({ from, to, ...reduction }) => ({
    ...reduction,
    from: formatDecimal(from),
    to: formatDecimal(to),
  }));
}

/** What {@link describeReductions} wrote. */
export function parseReductions(json: Json | undefined): readonly Reduction[] {
  return Array.isArray(json) ? (json as readonly Json[]).flatMap((one) => parseReduction(one) ?? []) : [];
}

function parseReduction(json: Json): Reduction | null {
  const fields = fieldsOf(json);
  const { market } = fields;
  const positionSide = positionSides.find((side) => side === fields['positionSide']);
  const [from, to] = [decimalIn(fields['from']), decimalIn(fields['to'])];
  const [sinceMs, seenAtMs] = [numberIn(fields['sinceMs']), numberIn(fields['seenAtMs'])];
  if (typeof market !== 'string' || positionSide === undefined) return null;
  if (from === null || to === null || sinceMs === null || seenAtMs === null) return null;
  return { market, positionSide, from, to, sinceMs, seenAtMs, changedAtMs: numberIn(fields['changedAtMs']) };
}
