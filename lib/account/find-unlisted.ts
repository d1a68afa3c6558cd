import { type Decimal, parseDecimal, zero } from '../base/decimal.ts';
import { longestOrderLagMs, longestPositionLagMs } from '../exchange/lag.ts';
import { averagePrice, type OrderRecord, type Sighting } from '../ledger/order-record.ts';
import { limitsOf } from '../limits/check-order.ts';
import type { Account } from '../model/account.ts';
import { type Fill, mayStillBeOpen } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import type { Order, PositionSide } from '../model/order.ts';
import { describeOwn, type OwnOrder, type OwnRecord, partOf, remainderOf, takePart } from './own-orders.ts';

/** What the ledger and the exchange say of an account; the ledger was read first. */
export interface OwnView {
  readonly account: Account;
  readonly records: readonly OrderRecord[];
  /** Those of the last seconds. */
  readonly fills: readonly Fill[];
  /** The open orders. */
  readonly listed: readonly Order[];
  readonly positions: readonly OpenPosition[];
  readonly nowMs: number;
}

/**
 * What may have changed, or may change, the positions beyond what the lists show: orders that may be open and are not in the
 * list of open orders, and fills of the last seconds that no position includes yet.
 */
export function findUnlisted(view: OwnView): readonly OwnOrder[] {
  const known = view.records.flatMap((record) => describeOwn(view.account, record) ?? []);
  const byId = new Map(known.map((own) => [own.signalId, own]));
  const listedAs = indexListed(view.listed);
  const filled = [
    ...known.flatMap((own) => findReportedFill(view, own, listedAs(own)) ?? []),
    ...view.fills
      .filter((fill) => isFillUnseen(view, fill))
      .map((fill) => ({ atMs: fill.atMs, part: countFill(fill, byId.get(fill.signalId)) })),
  ];
  const open = known.filter((own) => listedAs(own) === null && mayBeOpen(own, view.nowMs));
  return [...open.map(remainderOf), ...withoutClosed(filled)];
}

function indexListed(listed: readonly Order[]): (record: OrderRecord) => Order | null {
  const byId = new Map(listed.map((order) => [order.orderId, order]));
  const byName = new Map(listed.map((order) => [order.clientOrderId, order]));
  return ({ orderId, clientOrderId }) =>
    byId.get(orderId ?? Number.NaN) ?? (clientOrderId === null ? null : (byName.get(clientOrderId) ?? null));
}

/** A part of an order that was filled, and when, on the exchange's clock as far as it said. */
interface FilledPart {
  readonly atMs: number;
  readonly part: OwnOrder;
}

/** What an order opened and a later one closed is gone. The closing ones stay: they may have closed more. */
function withoutClosed(filled: readonly FilledPart[]): readonly OwnOrder[] {
  const left = filled.toSorted((one, other) => one.atMs - other.atMs).map(({ part }) => part);
  left.forEach((closing, place) => {
    let rest = closing.onlyReduces ? (closing.amount ?? zero) : zero;
    for (let before = place - 1; before >= 0 && rest.gt(zero); before -= 1) {
      const opened = left[before];
      if (opened === undefined || opened.amount === null || !isOpposite(opened, closing)) continue;
      const closed = rest.lt(opened.amount) ? rest : opened.amount;
      const amount = opened.amount.minus(closed);
      const part = (worth: Decimal | null) => partOf(worth, amount, opened.amount);
      left[before] = { ...opened, amount, notional: part(opened.notional), paid: part(opened.paid ?? null) };
      rest = rest.minus(closed);
    }
  });
  return left;
}

function isOpposite(opened: OwnOrder, closing: OwnOrder): boolean {
  return (
    !opened.onlyReduces &&
    opened.market === closing.market &&
    opened.side !== closing.side &&
    (opened.positionSide ?? 'BOTH') === (closing.positionSide ?? 'BOTH')
  );
}

/** Whether an order may be open although no list shows it. */
function mayBeOpen(
  { status, state, followed, orderOpen, hadRest, updatedAtMs }: OrderRecord,
  nowMs: number,
): boolean {
  if (status === 'sending' || status === 'unknown') return true;
  if (status !== 'placed' || !mayStillBeOpen(state)) return false;
  // Of an order that has left the list, the follower has not said yet how it ended.
  if (followed !== null) return orderOpen;
  // A negative age means that the clock was set back: how old the order is is not known.
  const ageMs = nowMs - updatedAtMs;
  if (orderOpen) return ageMs < longestOrderLagMs;
  // It has ended. One that nobody reported, and one whose rest was gone when it was to be cancelled, may have been filled.
  return (state === null || hadRest) && ageMs < longestPositionLagMs;
}

/**
 * What an order filled beyond the fills that the ledger has, as the exchange reported it in the last seconds.
 *
 * @param inList the order as the list of open orders shows it
 */
function findReportedFill(
  { positions, nowMs }: OwnView,
  own: OwnRecord,
  inList: Order | null,
): FilledPart | null {
  if (own.status !== 'placed' || own.isSpot) return null;
  const positionSide = own.positionSide ?? 'BOTH';
  const known = own.followed === null ? zero : own.filled;
  const unseen = [...sightingsIn(inList, nowMs), ...own.sightings].flatMap(({ filled, atMs, exchangeMs }) => {
    if (!isLately(atMs, nowMs)) return [];
    const isShown = exchangeMs !== null && isShownSince(positions, own.market, positionSide, exchangeMs);
    return isShown || filled.lte(known) ? [] : [{ amount: filled.minus(known), atMs: exchangeMs ?? atMs }];
  });
  const [most] = unseen.toSorted((one, other) => other.amount.cmp(one.amount));
  if (most === undefined) return null;
  const paid = averagePrice(own)?.times(most.amount) ?? null;
  return { atMs: most.atMs, part: { ...takePart(own, most.amount, false), paid } };
}

/** The exchange describes no time of the last fill in this list. Without one, it may have been just now. */
function sightingsIn(list: Order | null, nowMs: number): readonly Sighting[] {
  if (list === null) return [];
  const { filled, updatedAtMs } = list;
  return [{ filled, atMs: updatedAtMs ?? nowMs, exchangeMs: updatedAtMs ?? null }];
}

/** On spot there is no position that a fill could be missing from. */
function isFillUnseen({ account, positions, nowMs }: OwnView, fill: Fill): boolean {
  if (limitsOf(account, fill.market)?.tradesOn === 'spot' || !isLately(fill.atMs, nowMs)) return false;
  return !isShownSince(positions, fill.market, fill.positionSide ?? 'BOTH', fill.atMs);
}

/** The exchange's clock may be ahead of this one. */
function isLately(atMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) < longestPositionLagMs;
}

/** Whether the position of that side changed at this time of the exchange, or after it. */
function isShownSince(
  positions: readonly OpenPosition[],
  market: string,
  side: PositionSide,
  atMs: number,
): boolean {
  return positions.some(
    ({ modifiedAtMs, ...position }) =>
      position.market === market &&
      (side === 'BOTH' || position.positionSide === 'BOTH' || position.positionSide === side) &&
      modifiedAtMs !== null &&
      modifiedAtMs >= atMs,
  );
}

/** @param own the order that the fill belongs to */
function countFill(fill: Fill, own: OwnRecord | undefined): OwnOrder {
  const { signalId, market, side, positionSide, role } = fill;
  const amount = parseDecimal(fill.amount);
  return {
    signalId,
    market,
    side,
    positionSide,
    amount,
    notional: partOf(own?.notional ?? null, amount, own?.amount ?? null),
    onlyReduces: role !== 'order' || fill.onlyReduces === true || own?.onlyReduces === true,
    rests: false,
    paid: parseDecimal(fill.notional),
  };
}
