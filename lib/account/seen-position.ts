import { type Decimal, formatDecimal, zero } from '../base/decimal.ts';
import { type OpenPosition, placeOf } from '../model/holdings.ts';
import type { HedgeSide, PositionSide } from '../model/order.ts';
import type { Denial } from '../model/outcome.ts';
import type { PositionState } from '../model/signal.ts';
import type { PositionFact } from '../model/step-facts.ts';

/** The position of a market as it was read. */
export interface SeenPosition {
  /** In base units: above zero for a long position, below zero for a short one, zero without one. */
  readonly amount: Decimal;
  /** Of an account in hedge mode: which of the two positions it is; null in one-way mode. */
  readonly side: HedgeSide | null;
}

export type Chosen =
  | { readonly ok: true; readonly position: SeenPosition }
  | { readonly ok: false; readonly denial: Denial };

/**
 * The one position that a signal is about.
 *
 * @param positions of the market; without any, nothing shows whether the account is in hedge mode
 * @param named the side in the alert
 */
export function choosePosition(
  market: string,
  positions: readonly Pick<OpenPosition, 'amount' | 'positionSide'>[],
  named: PositionSide | undefined,
): Chosen {
  const { side } = placeOf({ market, positionSide: named });
  const hedged = positions.filter(({ positionSide }) => positionSide !== 'BOTH');
  const oneWay = positions.find(({ positionSide }) => positionSide === 'BOTH');
  if (side !== null && oneWay !== undefined)
    return { ok: false, denial: denyOneWayMode(market, side, oneWay.amount) };
  if (side !== null) {
    const amount = hedged.find(({ positionSide }) => positionSide === side)?.amount ?? zero;
    return { ok: true, position: { amount, side } };
  }
  if (hedged.length > 0) return { ok: false, denial: denyHedgeMode(market, hedged) };
  return { ok: true, position: { amount: oneWay?.amount ?? zero, side: null } };
}

function denyOneWayMode(market: string, side: PositionSide, amount: Decimal): Denial {
  const actual = describeAmount(amount);
  return {
    rule: 'one_way_mode',
    limit: `a ${side} position`,
    actual,
    message: `the account is in one-way mode, where ${market} has one position (${actual}); remove "positionSide"`,
  };
}

function denyHedgeMode(
  market: string,
  hedged: readonly Pick<OpenPosition, 'amount' | 'positionSide'>[],
): Denial {
  const actual = hedged
    .map(({ amount, positionSide }) => `${positionSide} ${formatDecimal(amount)}`)
    .join(' and ');
  return {
    rule: 'hedge_mode',
    limit: 'one position in the market',
    actual,
    message: `the account is in hedge mode: ${market} has ${actual}, and nothing says which one is meant; write "action": "close" with "positionSide": "LONG" or "SHORT", or add --side to the command; reverse, target and requirePosition need an account in one-way mode`,
  };
}

export function stateOfAmount(amount: Decimal): PositionState {
  if (amount.eq(zero)) return 'flat';
  return amount.gt(zero) ? 'long' : 'short';
}

/** For example `long 0.5`, or `flat`. */
export function describeAmount(amount: Decimal): string {
  const state = stateOfAmount(amount);
  return state === 'flat' ? state : `${state} ${formatDecimal(amount.abs())}`;
}

/** The position as a fact of `sending`: the next reading of the market is compared with it. */
export function describeSeen({ amount, side }: SeenPosition): PositionFact {
  return { amount: formatDecimal(amount), ...(side === null ? {} : { side }) };
}
