import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn } from '../base/json.ts';
import type { OpenPosition } from '../model/holdings.ts';
import { type PositionSide, positionSides } from '../model/order.ts';

/** Where a position is held. */
export type HeldPlace = Pick<OpenPosition, 'market' | 'positionSide'>;

/** A position that became smaller, was closed or turned. */
export interface PositionChange {
  readonly market: string;
  readonly positionSide: PositionSide;
  /** Signed, in base units. */
  readonly from: Decimal;
  readonly to: Decimal;
  /** When it was first seen. */
  readonly seenAtMs: number;
}

export function isSamePlace(one: HeldPlace, other: HeldPlace): boolean {
  return one.market === other.market && one.positionSide === other.positionSide;
}

/** Null for a place where no position is open. */
export function positionIn(positions: readonly OpenPosition[], place: HeldPlace): OpenPosition | null {
  return positions.find((one) => isSamePlace(one, place)) ?? null;
}

/** Whether a position became smaller, was closed or turned. */
export function isSmaller(from: Decimal, to: Decimal): boolean {
  if (from.eq(zero)) return false;
  return from.gt(zero) ? to.lt(from) : to.gt(from);
}

/** As a fact keeps it, with what else is kept of it. */
export function describeChange<Change extends PositionChange>({ from, to, ...change }: Change) {
  return { ...change, from: formatDecimal(from), to: formatDecimal(to) };
}

/** What {@link describeChange} wrote; null for anything else. */
export function parseChange(json: Json): PositionChange | null {
  const fields = fieldsOf(json);
  const { market } = fields;
  const positionSide = positionSides.find((side) => side === fields['positionSide']);
  const [from, to, seenAtMs] = [
    decimalIn(fields['from']),
    decimalIn(fields['to']),
    numberIn(fields['seenAtMs']),
  ];
  if (typeof market !== 'string' || positionSide === undefined) return null;
  return from === null || to === null || seenAtMs === null
    ? null
    : { market, positionSide, from, to, seenAtMs };
}
