import { type Decimal, maximum, sumOf, zero } from '../base/decimal.ts';
import { decimalIn } from '../base/json.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import { mayStillBeOpen } from '../model/execution.ts';
import { openingSideOf } from '../model/holdings.ts';
import type { Order } from '../model/order.ts';
import type { PositionWish } from '../model/step-facts.ts';
import { type GuardedPosition, shareOut } from './shares.ts';
import { leftForWish, wholeOfWish } from './wanted.ts';
import { asksFor, holdsFor, type ProtectionSight } from './wishes.ts';

/** A position that has rested, and what is known of the orders of its market. */
export interface RestedView {
  readonly position: GuardedPosition;
  readonly wishes: readonly PositionWish[];
  /** Of the market, oldest first. */
  readonly records: readonly OrderRecord[];
  readonly open: readonly Order[];
}

/**
 * Notes how far a position has grown since alerts asked for take-profits of all of it: what is held of what they protect, and
 * what they have sold of it. It is never noted to be less: what others sell is taken from all take-profits alike.
 */
export function growWishes(view: RestedView, sight: ProtectionSight): ProtectionSight {
  const { position, wishes, records, open } = view;
  const shares = shareOut(
    records.map((record) => asFilled(record, open)),
    position,
  );
  const noted = wishes.flatMap(({ signalId }) => {
    const whole = sight.grown.get(signalId);
    return whole === undefined ? [] : [[signalId, whole] as const];
  });
  const grown = wishes.flatMap((wish) => {
    if (!asksFor(wish, 'take_profit') || !holdsFor(wish, position)) return [];
    const sold = soldOf(wish, records, sight);
    if (sold.gt(zero) && !isInSight(view)) return [];
    const whole = leftForWish(wish, position, shares).plus(sold);
    return whole.gt(wholeOfWish(wish, sight)) ? [[wish.signalId, whole] as const] : [];
  });
  return { ...sight, grown: new Map([...noted, ...grown]) };
}

/** An order whose fills are listed late must not make the position seem larger than what it opened. */
function asFilled(record: OrderRecord, open: readonly Order[]): OrderRecord {
  if (record.protects !== null) return record;
  if (record.state === 'filled')
    return { ...record, proved: maximum(record.amount ?? zero, filledBy(record)) };
  if (!mayStillBeOpen(record.state)) return record;
  const listed = open.find(({ orderId }) => orderId === record.orderId);
  const filled = listed === undefined ? record.amount : listed.amount.minus(listed.remaining);
  return { ...record, proved: maximum(filled ?? zero, filledBy(record)) };
}

/** What take-profits have sold, in base units. */
function soldOf(
  { signalId }: PositionWish,
  records: readonly OrderRecord[],
  { sold }: ProtectionSight,
): Decimal {
  const noted = sold.filter(({ of }) => of === signalId);
  const own = records.filter(
    (record) =>
      record.protects?.of === signalId &&
      record.protects.role === 'take_profit' &&
      !noted.some(({ by }) => by === record.signalId),
  );
  const amounts = [...noted.map(({ filled }) => decimalIn(filled) ?? zero), ...own.map(filledBy)];
  return sumOf(amounts);
}

/**
 * Whether something else protects the position, or may: only then all orders that opened a part of it are read, and what a newer
 * one opened is not taken for growth.
 */
function isInSight({ position, records }: RestedView): boolean {
  const side = openingSideOf(position.amount);
  return records.some(
    ({ protects, exits, positionSide = 'BOTH', ...record }) =>
      positionSide === (position.side ?? 'BOTH') &&
      (protects === null ? exits.length > 0 && record.side === side : record.side !== side),
  );
}
