import { type Decimal, minimum, parseDecimal, zero } from '../base/decimal.ts';
import type { Fill } from './execution.ts';
import type { Currencies } from './market.ts';
import { isMarkedReducing, type Side } from './order.ts';

/**
 * What is held of one market, at average cost. Immutable.
 *
 * @see DECISIONS 157
 */
export interface CostPosition {
  /** In base units: above zero for a long position, below zero for a short one. */
  readonly amount: Decimal;
  /**
   * What the open amount was entered for, in the quote currency; never below zero. An average price would be a rounded
   * quotient: with the cost, the profits of a position that was closed in parts add up to the last digit.
   */
  readonly cost: Decimal;
}

/** A fill as its cost is computed: all amounts are decimals, none below zero. */
export interface CostFill {
  readonly side: Side;
  /** In base units. */
  readonly amount: Decimal;
  /** In the quote currency. */
  readonly price: Decimal;
  /** In the quote currency. */
  readonly fee: Decimal;
  /** The part of the fill that was paid as a fee in the base currency, in base units; absent: none. */
  readonly baseFee?: Decimal;
}

export interface AppliedFill {
  readonly position: CostPosition;
  /** The profit of the closed part, less the fees of this fill, in the quote currency; below zero for a loss. */
  readonly realised: Decimal;
  /** The profit of the closed part before fees, in the quote currency. */
  readonly gross: Decimal;
  /** How much of the position this fill closed, in base units; zero for a fill that only opened. */
  readonly closed: Decimal;
}

export const flatPosition: CostPosition = { amount: zero, cost: zero };

/**
 * Applies one fill at average cost. A fill against the position realises the difference to the average price; what exceeds
 * the position opens the opposite one at the price of the fill. A fee is realised with the fill that paid it, as the
 * exchange books it. A fee in the base currency leaves the position at the price of the fill.
 *
 * Pure: the order of the fills is the caller's, and a fill that is missing makes the result that of the fills that are known.
 */
export function applyFill(before: CostPosition, fill: CostFill): AppliedFill {
  const traded = fill.side === 'buy' ? fill.amount : fill.amount.neg();
  const isOpposite = before.amount.times(traded).lt(zero);
  const closed = isOpposite ? minimum(before.amount.abs(), fill.amount) : zero;
  const { position: reduced, gross } = close(before, closed, fill.price);
  const opened = open(reduced, fill.side, fill.amount.minus(closed), fill.price);
  const baseFee = fill.baseFee ?? zero;
  const position = baseFee.eq(zero) ? opened : payInBase(opened, baseFee, fill.price);
  return { position, realised: gross.minus(fill.fee).minus(baseFee.times(fill.price)), gross, closed };
}

/**
 * A stored fill with its fee valued: in the quote currency as it is, in the base currency as a part of the fill. A fee in
 * another currency has no price here and counts as nothing.
 */
export function toCostFill(
  fill: Pick<Fill, 'side' | 'amount' | 'price' | 'fee' | 'feeAsset'>,
  currencies: Currencies,
): CostFill {
  const fee = parseDecimal(fill.fee);
  const traded = { side: fill.side, amount: parseDecimal(fill.amount), price: parseDecimal(fill.price) };
  if (isBaseFee(fill.feeAsset, currencies)) return { ...traded, fee: zero, baseFee: fee };
  return { ...traded, fee: fill.feeAsset === currencies.quote ? fee : zero };
}

/** Whether a fee was taken in the base currency: only a buy on spot pays it so, on margin every fee is in the quote currency. */
export function isBaseFee(feeAsset: string, { base, quote }: Currencies): boolean {
  return feeAsset === base && base !== quote;
}

/** What is known of a stored fill besides what it says itself. */
export interface FillFacts {
  /** Names the position that it changed. */
  readonly key: string;
  readonly currencies: Currencies;
  /** Whether it traded on the spot account, where nothing can be sold that was not bought. */
  readonly isSpot: boolean;
  /** Whether its signal could only reduce a position, as far as the ledger says. */
  readonly onlyReduces: boolean;
}

/** The positions of an account, by market, in hedge mode by market and side, and what was bought on spot, by market and strategy. */
export type CostBooks = ReadonlyMap<string, CostPosition>;

export interface BookedFill extends AppliedFill {
  /** Of the fill, in base units. */
  readonly amount: Decimal;
  /** The part that only closes, although no known fill had opened it, in base units. It has no known cost. */
  readonly unmatched: Decimal;
}

/**
 * Applies a stored fill to its position in the books. Of a fill that only closes, no more than is held is booked: the rest
 * opens nothing.
 */
export function bookFill(books: Map<string, CostPosition>, fill: Fill, facts: FillFacts): BookedFill {
  const { key, currencies, isSpot, onlyReduces } = facts;
  const before = books.get(key) ?? flatPosition;
  const cost = toCostFill(fill, currencies);
  const isClosing = onlyReduces || onlyCloses(fill) || (isSpot && fill.side === 'sell');
  const booked = isClosing ? closingPart(before, cost) : cost.amount;
  const applied = applyFill(before, { ...cost, amount: booked });
  books.set(key, applied.position);
  return { ...applied, amount: cost.amount, unmatched: cost.amount.minus(booked) };
}

/**
 * Whether a fill can only have closed what was held: it is marked so, or closes a side of hedge mode. An exit that the exchange
 * made is not: when its position was closed before it, it opens the opposite one.
 */
function onlyCloses({ side, positionSide, onlyReduces }: Fill): boolean {
  return isMarkedReducing({ side, positionSide, reduceOnly: onlyReduces });
}

function closingPart({ amount: held }: CostPosition, { side, amount }: CostFill): Decimal {
  const isOpposite = side === 'buy' ? held.lt(zero) : held.gt(zero);
  return isOpposite ? minimum(amount, held.abs()) : zero;
}

function close(position: CostPosition, closed: Decimal, price: Decimal) {
  if (closed.eq(zero)) return { position, gross: zero };
  const held = position.amount.abs();
  // The last part takes the rest of the cost, so that no rounding of the parts before is left behind.
  const cost = closed.eq(held) ? position.cost : position.cost.times(closed).div(held);
  const isLong = position.amount.gt(zero);
  const exit = closed.times(price);
  return {
    position: positionOf(
      isLong ? position.amount.minus(closed) : position.amount.plus(closed),
      position.cost.minus(cost),
    ),
    gross: isLong ? exit.minus(cost) : cost.minus(exit),
  };
}

function open(position: CostPosition, side: Side, opened: Decimal, price: Decimal): CostPosition {
  if (opened.eq(zero)) return position;
  const amount = side === 'buy' ? position.amount.plus(opened) : position.amount.minus(opened);
  return positionOf(amount, position.cost.plus(opened.times(price)));
}

/** The fee was bought, or was not sold, at the price of the fill; it is given away. */
function payInBase(position: CostPosition, fee: Decimal, price: Decimal): CostPosition {
  if (position.amount.lte(zero)) return position;
  const paid = minimum(position.amount, fee);
  const cost = paid.eq(position.amount) ? position.cost : minimum(position.cost, paid.times(price));
  return positionOf(position.amount.minus(paid), position.cost.minus(cost));
}

function positionOf(amount: Decimal, cost: Decimal): CostPosition {
  return amount.eq(zero) ? flatPosition : { amount, cost };
}
