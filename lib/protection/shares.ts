import { orderSignalOf } from '../account/sent-order.ts';
import { type Decimal, minimum, parseDecimal, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import { finalReport, stepFacts } from '../ledger/order-facts.ts';
import { orderOf } from '../model/execution.ts';
import { isMarkedReducing, type PositionSide, type Side } from '../model/order.ts';

/** A position as it was read. */
export interface HeldPosition {
  readonly market: string;
  /** Of hedge mode; null in one-way mode. */
  readonly side: Exclude<PositionSide, 'BOTH'> | null;
  /** In base units: above zero for a long position, below zero for a short one, zero without one. */
  readonly amount: Decimal;
  /** On the exchange's clock; null when it does not say. */
  readonly openedAtMs: number | null;
}

/** The part of a position that a signal opened and that is left of it. */
export interface Share {
  readonly entry: Entry;
  /** Of the entry. */
  readonly side: Side;
  /** In base units; zero when nothing of it is left. */
  readonly amount: Decimal;
}

/**
 * Shares a position among the signals of this relay that opened it. What reduced it is counted against the oldest signals
 * first, unless a stop-loss or take-profit did: that belongs to its own signal. What others opened belongs to none.
 *
 * @param entries of the account, oldest first, with the signals that protect them
 * @returns newest first; also signals of which nothing is left
 */
export function shareOut(entries: readonly Entry[], position: HeldPosition): readonly Share[] {
  let rest = position.amount.abs();
  return entries.toReversed().flatMap((entry) => {
    const opened = openedBy(entry, position);
    if (opened === null) return [];
    const isOfPosition = opened.isOfSide(position.amount) && mayBeOf(entry, position);
    const amount = isOfPosition ? minimum(leftOf(entry, entries), rest) : zero;
    rest = rest.minus(amount);
    return [{ entry, side: opened.side, amount }];
  });
}

interface Opened {
  readonly side: Side;
  isOfSide(amount: Decimal): boolean;
}

/** Null for an entry that placed no order which opens a position of this market and side. */
function openedBy(entry: Entry, { market, side }: HeldPosition): Opened | null {
  if (entry.status !== 'placed' || entry.signal?.market !== market || entry.signal.action === 'protect')
    return null;
  const asked = orderSignalOf(entry);
  if (asked === null || isMarkedReducing(asked)) return null;
  const named = asked.positionSide;
  if (side !== null && named !== side) return null;
  return {
    side: asked.side,
    isOfSide: (amount) => !amount.eq(zero) && amount.gt(zero) === (asked.side === 'buy'),
  };
}

/** A position that was opened after the entry had filled is another one. */
function mayBeOf(entry: Entry, { openedAtMs }: HeldPosition): boolean {
  if (openedAtMs === null) return true;
  const own = orderOf(entry.execution, 'order');
  const report = finalReport(stepFacts(entry, 'placed'));
  const endedAtMs = own?.endedAtMs ?? report?.endedAtMs ?? null;
  if (endedAtMs === null) return true;
  return openedAtMs <= Math.max(endedAtMs, entry.updatedAtMs) + longestPositionLagMs;
}

/** What an entry filled, without what its own stop-losses and take-profits have sold, in base units. */
export function leftOf(entry: Entry, entries: readonly Entry[]): Decimal {
  const exits = (entry.execution?.orders ?? []).filter(({ role }) => role !== 'order');
  const sold = exits.reduce((sum, { filled }) => sum.plus(parseDecimal(filled)), zero);
  const kept = entries
    .filter(({ signal }) => signal?.action === 'protect' && signal.of === entry.signalId)
    .reduce((sum, other) => sum.plus(filledBy(other)), zero);
  const left = filledBy(entry).minus(sold).minus(kept);
  return left.gt(zero) ? left : zero;
}

/** What the order of an entry filled, as far as anything has told it, in base units. */
export function filledBy(entry: Entry): Decimal {
  const followed = parseDecimal(orderOf(entry.execution, 'order')?.filled ?? '0');
  const facts = stepFacts(entry, 'placed');
  const reported = parseDecimal(finalReport(facts)?.filled ?? facts.proved?.filled ?? '0');
  return followed.gt(reported) ? followed : reported;
}
