import { type Decimal, maximum, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { filledBy, type OrderRecord, orderRecordOf } from '../ledger/order-record.ts';
import { limitsOf } from '../limits/check-order.ts';
import type { Account } from '../model/account.ts';
import { mayStillBeOpen } from '../model/execution.ts';
import type { PositionSide, Side } from '../model/order.ts';
import { mustNotRest } from '../orders/order-kinds.ts';
import { saysItReduces } from '../signals/may-open.ts';

/** What an order of the relay may still do, or has done, without the exchange's lists showing it. */
export interface OwnOrder {
  readonly signalId: string;
  readonly market: string;
  readonly side: Side;
  readonly positionSide: PositionSide | undefined;
  /** In base units; null when the ledger does not say it. */
  readonly amount: Decimal | null;
  /** What that is worth, in USDT; null when the ledger does not say it. */
  readonly notional: Decimal | null;
  /** It says so itself, or it was smaller than the position against it and never rests. */
  readonly onlyReduces: boolean;
  /** Whether it waits in the book or for its trigger. */
  readonly rests: boolean;
  /** Of what was filled: what was paid or got for it, in the quote currency; null when nobody said it. */
  readonly paid?: Decimal | null;
}

/**
 * All that the order of an entry has filled and may still fill, as it counts when no reading of the account shows anything
 * of it; null when it is no order.
 */
export function wholeOrderOf(account: Account, entry: Entry): OwnOrder | null {
  const record = orderRecordOf(entry);
  const own = record === null ? null : describeOwn(account, record);
  if (own === null) return null;
  const filled = filledBy(own);
  const hasEnded = !mayStillBeOpen(own.state);
  return takePart(own, hasEnded ? filled : own.amount, own.mayRest && filled.eq(zero));
}

/** The record of an order, as it counts for the limits of its account. */
export interface OwnRecord extends OrderRecord {
  readonly side: Side;
  readonly isSpot: boolean;
  readonly mayRest: boolean;
  readonly onlyReduces: boolean;
}

/** Null when nothing says which side it is of. */
export function describeOwn(account: Account, record: OrderRecord): OwnRecord | null {
  const { asked, side, market, wasReducing } = record;
  if (side === null) return null;
  const mayRest = asked === null || !mustNotRest(asked);
  const tradesOn = limitsOf(account, market)?.tradesOn ?? 'margin';
  const onlyReduces = (asked !== null && saysItReduces(asked, tradesOn)) || (wasReducing && !mayRest);
  return { ...record, side, isSpot: tradesOn === 'spot', mayRest, onlyReduces };
}

/** All that is left of it. */
export function remainderOf(own: OwnRecord): OwnOrder {
  const { status, followed, filled, amount } = own;
  const left = amount === null ? null : maximum(amount.minus(filled), zero);
  // Once followed it was in the list; one that has left the list may have been filled.
  return takePart(own, left, own.mayRest && status === 'placed' && followed === null);
}

/** This much of it, in base units. */
export function takePart(own: OwnRecord, amount: Decimal | null, rests: boolean): OwnOrder {
  const { signalId, market, side, positionSide, onlyReduces } = own;
  const notional = partOf(own.notional, amount, own.amount);
  return { signalId, market, side, positionSide, amount, notional, onlyReduces, rests };
}

/** The share of the worth of a whole order. */
export function partOf(worth: Decimal | null, amount: Decimal | null, whole: Decimal | null): Decimal | null {
  if (worth === null || amount === null || whole === null || whole.lte(zero)) return worth;
  return worth.times(amount).div(whole);
}
