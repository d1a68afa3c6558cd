import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import type { Entry } from '../ledger/entry.ts';
import { finalReport, stepFacts } from '../ledger/order-facts.ts';
import { orderSignalOf } from '../ledger/sent-order.ts';
import { limitsOf } from '../limits/check-order.ts';
import type { Account, TradingGround } from '../model/account.ts';
import { type OrderExecution, orderOf } from '../model/execution.ts';
import { isMarkedReducing, type PositionSide, type Side } from '../model/order.ts';
import type { OrderSignal } from '../model/signal.ts';
import type { OrderReport } from '../model/step-facts.ts';
import { mustNotRest } from '../orders/order-kinds.ts';

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
}

/** All that is left of the order of an entry; null when it is no order. */
export function ownOrderOf(account: Account, entry: Entry): OwnOrder | null {
  const own = describeOwn(account, entry);
  return own === null ? null : remainderOf(own);
}

/** An entry that placed an order, and what the ledger says of that order. */
export interface OwnEntry {
  readonly entry: Entry;
  readonly market: string;
  readonly side: Side;
  readonly asked: OrderSignal | null;
  /** As the response to its creation reported it, or the one that ended what must not rest; null when nothing did. */
  readonly reported: OrderReport | null;
  readonly followed: OrderExecution | null;
  readonly amount: Decimal | null;
  readonly notional: Decimal | null;
  readonly isSpot: boolean;
  readonly mayRest: boolean;
  readonly onlyReduces: boolean;
}

/** Null when the entry placed no order, or none that can be read. */
export function describeOwn(account: Account, entry: Entry): OwnEntry | null {
  const { signal, execution } = entry;
  if (signal === null) return null;
  const sent = stepFacts(entry, 'sending');
  const { counted } = sent;
  const asked = orderSignalOf(entry);
  const side = counted?.side ?? asked?.side;
  if (side === undefined) return null;
  const reported = finalReport(stepFacts(entry, 'placed'));
  const askedAmount = asked?.size.unit === 'base' ? asked.size.quantity : null;
  const amount = counted?.amount ?? reported?.amount ?? sent.amount ?? askedAmount;
  const mayRest = asked === null || !mustNotRest(asked);
  const tradesOn = limitsOf(account, signal.market)?.tradesOn ?? 'margin';
  return {
    entry,
    market: signal.market,
    side,
    asked,
    reported,
    followed: orderOf(execution, 'order'),
    amount: amount === null ? null : parseDecimal(amount),
    notional: typeof counted?.notional === 'string' ? parseDecimal(counted.notional) : null,
    isSpot: tradesOn === 'spot',
    mayRest,
    onlyReduces:
      (asked !== null && saysItReduces(asked, tradesOn)) || (counted?.onlyReduces === true && !mayRest),
  };
}

/** Whether the order says itself that it only reduces, whatever the position is. */
export function saysItReduces(signal: OrderSignal, tradesOn: TradingGround): boolean {
  const { side, size } = signal;
  if (tradesOn === 'spot') return side === 'sell';
  return isMarkedReducing(signal) || (size.unit === 'percent' && size.of === 'position');
}

/** All that is left of it. */
export function remainderOf(own: OwnEntry): OwnOrder {
  const { entry, followed, reported, amount } = own;
  const filled = followed === null ? parseDecimal(reported?.filled ?? '0') : parseDecimal(followed.filled);
  const left = amount === null ? null : atLeastZero(amount.minus(filled));
  // Once followed it was in the list; one that has left the list may have been filled.
  return takePart(own, left, own.mayRest && entry.status === 'placed' && followed === null);
}

/** This much of it, in base units. */
export function takePart(own: OwnEntry, amount: Decimal | null, rests: boolean): OwnOrder {
  return {
    signalId: own.entry.signalId,
    market: own.market,
    side: own.side,
    positionSide: own.asked?.positionSide,
    amount,
    notional: partOf(own.notional, amount, own.amount),
    onlyReduces: own.onlyReduces,
    rests,
  };
}

/** The share of the worth of a whole order. */
export function partOf(worth: Decimal | null, amount: Decimal | null, whole: Decimal | null): Decimal | null {
  if (worth === null || amount === null || whole === null || whole.lte(zero)) return worth;
  return worth.times(amount).div(whole);
}

function atLeastZero(value: Decimal): Decimal {
  return value.lt(zero) ? zero : value;
}
