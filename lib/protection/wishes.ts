import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn } from '../base/json.ts';
import type { FactName } from '../ledger/account-facts.ts';
import type { PositionWish } from '../model/step-facts.ts';
import type { GuardedPosition } from './shares.ts';

/** Where a position is: its market and, in hedge mode, its side. */
export type PositionPlace = Pick<GuardedPosition, 'market' | 'side'>;

/** The fact with what an alert asked for last. It is written by the signals of the market alone, one after the other. */
export function wishFactOf({ market, side }: PositionPlace): FactName {
  return `protection asked in ${market}${side === null ? '' : ` ${side}`}`;
}

/** The fact with what following has seen. It is written by the follower alone. */
export function sightFactOf({ market, side }: PositionPlace): FactName {
  return `protection seen in ${market}${side === null ? '' : ` ${side}`}`;
}

/** How far following a position has come. */
export interface ProtectionSight {
  /** By id of the signal that asked for a trailing stop-loss: the best price since. */
  readonly best: ReadonlyMap<string, Decimal>;
  /** What the owner has ended by hand of what the last wish placed: `stop_loss`, `take_profit 2`. */
  readonly released: ReadonlySet<string>;
  /** The wish that these are of. */
  readonly ofWish: string | null;
}

export const noSight: ProtectionSight = { best: new Map(), released: new Set(), ofWish: null };

export function describeSight({ best, released, ofWish }: ProtectionSight): Json {
  const prices = [...best].map(([signalId, price]) => [signalId, price.toFixed()]);
  return { best: Object.fromEntries(prices), released: [...released], ofWish };
}

/** What {@link describeSight} wrote; nothing for anything else. */
export function parseSight(fact: Json): ProtectionSight {
  const { best, released, ofWish } = fieldsOf(fact);
  const prices = Object.entries(fieldsOf(best)).flatMap(([signalId, price]) => {
    const known = decimalIn(price);
    return known === null ? [] : [[signalId, known] as const];
  });
  const names = Array.isArray(released) ? (released as readonly Json[]).map(String) : [];
  return { best: new Map(prices), released: new Set(names), ofWish: textIn(ofWish) };
}

/** A stored wish; null for anything else. */
export function parseWish(fact: Json): PositionWish | null {
  const { signalId, market, atMs, amount } = fieldsOf(fact);
  const isWish =
    textIn(signalId) !== null &&
    textIn(market) !== null &&
    numberIn(atMs) !== null &&
    decimalIn(amount) !== null;
  return isWish ? (fact as unknown as PositionWish) : null;
}

/** Whether a wish holds for a position: it is of this side, and was there when the position was. */
export function holdsFor(wish: PositionWish, { amount, openedAtMs }: GuardedPosition): boolean {
  const isSameSide = parseDecimal(wish.amount).times(amount).gt(zero);
  return isSameSide && (openedAtMs === null || openedAtMs <= wish.atMs);
}
