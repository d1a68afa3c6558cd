import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { decimalIn, fieldsOf, type Json, numberIn, textIn, toJson } from '../base/json.ts';
import type { FactName } from '../ledger/account-facts.ts';
import type { PositionPlace } from '../model/holdings.ts';
import { type DecimalText, type ExitRole, exitRoles } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import type { GuardedPosition } from './shares.ts';

/** The fact with what alerts asked for. It is written by the signals of the market alone, one after the other. */
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
  /** What the owner has ended by hand of what an alert asked for: `ID stop_loss`, `ID take_profit 2`. */
  readonly released: ReadonlySet<string>;
  /** What take-profits that an alert asked for have used up of their shares, by orders that have ended. */
  readonly sold: readonly SoldShare[];
  /**
   * By id of the signal that asked for take-profits: the most that they have been shares of since, in base units, where that is
   * more than the position was at that time.
   */
  readonly grown: ReadonlyMap<string, Decimal>;
}

/** What an order has used up of the share of one of several take-profits. */
export interface SoldShare {
  /** The signal that asked for the take-profit. */
  readonly of: string;
  readonly part: number;
  /** The signal that placed the order. */
  readonly by: string;
  /** What of the share that is, in base units. */
  readonly amount: DecimalText;
  /** What the order has sold, in base units; absent: not noted. It is less where it stood for less than that share. */
  readonly filled?: DecimalText;
}

export function describeSight({ best, released, sold, grown }: ProtectionSight): Json {
  return {
    best: describeDecimals(best),
    released: [...released],
    sold: toJson(sold),
    grown: describeDecimals(grown),
  };
}

function describeDecimals(values: ReadonlyMap<string, Decimal>): Json {
  return Object.fromEntries([...values].map(([signalId, value]) => [signalId, value.toFixed()]));
}

/** What {@link describeSight} wrote; nothing for anything else. */
export function parseSight(fact: Json): ProtectionSight {
  const { best, released, sold, grown } = fieldsOf(fact);
  const names = Array.isArray(released) ? (released as readonly Json[]).map(String) : [];
  const parts = Array.isArray(sold) ? (sold as readonly Json[]).filter(isSoldShare) : [];
  return { best: parseDecimals(best), released: new Set(names), sold: parts, grown: parseDecimals(grown) };
}

function parseDecimals(fact: Json | undefined): ReadonlyMap<string, Decimal> {
  const known = Object.entries(fieldsOf(fact)).flatMap(([signalId, text]) => {
    const value = decimalIn(text);
    return value === null ? [] : [[signalId, value] as const];
  });
  return new Map(known);
}

function isSoldShare(fact: Json): fact is Json & SoldShare {
  const { of, part, by, amount } = fieldsOf(fact);
  return textIn(of) !== null && numberIn(part) !== null && textIn(by) !== null && decimalIn(amount) !== null;
}

/** The wishes that are stored for a position, oldest first, each without what a later one names; none for anything else. */
export function parseWishes(fact: Json): readonly PositionWish[] {
  return Array.isArray(fact) ? (fact as readonly Json[]).filter(isWish) : [];
}

function isWish(fact: Json): fact is Json & PositionWish {
  const { signalId, market, atMs, amount } = fieldsOf(fact);
  return (
    textIn(signalId) !== null &&
    textIn(market) !== null &&
    numberIn(atMs) !== null &&
    decimalIn(amount) !== null
  );
}

/** Which exits of a position a wish is about: what it does not name stays as it was. */
export function asksFor({ stopLoss, trailing, takeProfits }: PositionWish, role: ExitRole): boolean {
  return role === 'stop_loss' ? stopLoss !== undefined || trailing !== undefined : takeProfits !== undefined;
}

/** Of those that were replaced before these no order stands any more. */
const mostReplaced = 20;

/**
 * The wishes after a new one: what it names takes the place of what the earlier ones say of it. One of which nothing is left
 * stays for a while: its orders may still stand.
 */
export function withWish(wishes: readonly PositionWish[], wish: PositionWish): readonly PositionWish[] {
  const earlier = wishes
    .filter(({ signalId }) => signalId !== wish.signalId)
    .map((one) => withoutAsked(one, wish));
  const replaced = earlier.filter((one) => !exitRoles.some((role) => asksFor(one, role)));
  const forgotten = new Set(replaced.slice(0, -mostReplaced));
  return [...earlier.filter((one) => !forgotten.has(one)), wish];
}

function withoutAsked(
  { stopLoss, trailing, takeProfits, ...rest }: PositionWish,
  newer: PositionWish,
): PositionWish {
  const keepsStop = !asksFor(newer, 'stop_loss');
  return {
    ...rest,
    ...(keepsStop && stopLoss !== undefined ? { stopLoss } : {}),
    ...(keepsStop && trailing !== undefined ? { trailing } : {}),
    ...(takeProfits === undefined || asksFor(newer, 'take_profit') ? {} : { takeProfits }),
  };
}

/**
 * Whether a wish holds for a position: it is of this side, and the position is the one of that time, or not younger. The clock of
 * the exchange may be ahead of the one that tells when the wish was noted.
 */
export function holdsFor(wish: PositionWish, { amount, openedAtMs }: GuardedPosition): boolean {
  const isSameSide = parseDecimal(wish.amount).times(amount).gt(zero);
  return isSameSide && (openedAtMs === null || openedAtMs === wish.openedAtMs || openedAtMs <= wish.atMs);
}
