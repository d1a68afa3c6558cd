import { type Decimal, hundred, minimum, parseDecimal, rateOfPercent, zero } from '../base/decimal.ts';
import { filledBy, type OrderRecord } from '../ledger/order-record.ts';
import type { Side } from '../model/order.ts';
import type { ExitRole, PriceOrDistance, TakeProfitPart } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import { type GuardedPosition, type Share, shareOut } from './shares.ts';
import { holdsFor, type ProtectionSight } from './wishes.ts';

/** Who asked for a stop-loss or take-profit, and which one. */
export interface GuardName {
  /** The signal that asked for it. */
  readonly of: string;
  readonly role: ExitRole;
  /** Which one of several take-profits, from 1; absent: the only one. */
  readonly part?: number;
}

/** What should stand for a part of a position. */
export interface WantedGuard extends GuardName {
  /** Of the orders that protect it. */
  readonly side: Side;
  /** The trigger price of a stop-loss, or the limit price of a take-profit; null when nobody knows it. */
  readonly price: Decimal | null;
  /** Whether the price moves, so that one that stands at another price does not fit. */
  readonly isMoving: boolean;
  /** How much of the position it protects, in base units. */
  readonly amount: Decimal;
  /** The order that opened the part; null for what an alert asked for the whole position. */
  readonly record: OrderRecord | null;
}

/** What the wanted protection of a position follows from. */
export interface WantedView {
  /** Of the market, oldest first. */
  readonly records: readonly OrderRecord[];
  /** What an alert asked for the whole position; null: none did. */
  readonly wish: PositionWish | null;
  readonly sight: ProtectionSight;
}

/**
 * What should protect a position: the stop-loss and the take-profits of the orders that opened it, each for what of that
 * order is left. What an alert asked for the whole position takes the place of what older orders asked for.
 */
export function wantedGuards(position: GuardedPosition, view: WantedView): readonly WantedGuard[] {
  const { records, sight } = view;
  const shares = shareOut(records, position);
  const wish = view.wish !== null && holdsFor(view.wish, position) ? view.wish : null;
  const ofOrders = shares.flatMap((share) =>
    guardsOfOrder(share, records, sight).map((guard) =>
      isReplaced(guard, share, wish) ? { ...guard, amount: zero } : guard,
    ),
  );
  return wish === null ? ofOrders : [...ofOrders, ...guardsOfWish(wish, position, shares, view)];
}

/** Whether an alert about the whole position has asked for another one since. */
function isReplaced({ role }: GuardName, { record }: Share, wish: PositionWish | null): boolean {
  return wish !== null && record.createdAtMs <= wish.atMs && asksFor(wish, role);
}

function asksFor({ stopLoss, trailing, takeProfits }: PositionWish, role: ExitRole): boolean {
  return role === 'stop_loss' ? stopLoss !== undefined || trailing !== undefined : takeProfits !== undefined;
}

/** What the exchange makes of an order comes first: its own stop-loss, or its one take-profit. */
function guardsOfOrder(
  share: Share,
  records: readonly OrderRecord[],
  sight: ProtectionSight,
): readonly WantedGuard[] {
  const { record, side, amount } = share;
  const of = record.signalId;
  const shared = { of, side: closing(side), record };
  const trailing = record.asked?.trailing;
  const made = record.exits.map(({ role, price }): WantedGuard => {
    const planned = price ?? priceFromDistance(share, role);
    if (role === 'take_profit' || trailing === undefined)
      return { ...shared, role, price: planned, isMoving: false, amount };
    const moved = trailPrice(sight.best.get(of), trailing, side);
    return { ...shared, role, price: further(planned, moved, side), isMoving: moved !== null, amount };
  });
  const average = averagePrice(record);
  const parts = record.asked?.takeProfits ?? [];
  const left = partsLeft(parts, { of, whole: filledBy(record), left: amount }, records);
  return [
    ...made,
    ...left.map(
      ({ part, price, amount: ofPart }): WantedGuard => ({
        ...shared,
        role: 'take_profit',
        part,
        price: pricedFrom(price, average, 'take_profit', side),
        isMoving: false,
        amount: ofPart,
      }),
    ),
  ];
}

/** What is left of a position for it is what newer orders have not opened. */
function guardsOfWish(
  wish: PositionWish,
  position: GuardedPosition,
  shares: readonly Share[],
  { records, sight }: WantedView,
): readonly WantedGuard[] {
  const newer = shares
    .filter(({ record }) => record.createdAtMs > wish.atMs)
    .reduce((sum, { amount }) => sum.plus(amount), zero);
  const left = position.amount.abs().minus(newer);
  const side = position.amount.gt(zero) ? 'buy' : 'sell';
  const { signalId: of, trailing } = wish;
  const shared = { of, side: closing(side), record: null };
  const isGone = (name: Pick<GuardName, 'role' | 'part'>) =>
    sight.ofWish === of && sight.released.has(describeName(name));
  const stop: WantedGuard[] = [];
  if (asksFor(wish, 'stop_loss') && !isGone({ role: 'stop_loss' })) {
    const planned = wish.stopLoss === undefined ? null : parseDecimal(wish.stopLoss);
    const moved = trailing === undefined ? null : trailPrice(sight.best.get(of), trailing, side);
    const price = further(planned, moved, side);
    stop.push({ ...shared, role: 'stop_loss', price, isMoving: moved !== null, amount: left });
  }
  const whole = parseDecimal(wish.amount).abs();
  const parts = partsLeft(wish.takeProfits ?? [], { of, whole, left }, records);
  return [
    ...stop,
    ...parts
      .filter(({ part }) => !isGone({ role: 'take_profit', part }))
      .map(({ part, price, amount }): WantedGuard => {
        const limit = parseDecimal(price);
        return { ...shared, role: 'take_profit', part, price: limit, isMoving: false, amount };
      }),
  ];
}

/** What an order may have asked for. */
export function namesOf({ signalId: of, exits, asked }: OrderRecord): readonly GuardName[] {
  return [
    ...exits.map(({ role }): GuardName => ({ of, role })),
    ...(asked?.takeProfits ?? []).map((_, index) => targetName(of, index)),
  ];
}

/** What an alert asked for the whole position. */
export function namesOfWish(wish: PositionWish): readonly GuardName[] {
  const of = wish.signalId;
  return [
    ...(asksFor(wish, 'stop_loss') ? [{ of, role: 'stop_loss' } as const] : []),
    ...(wish.takeProfits ?? []).map((_, index) => targetName(of, index)),
  ];
}

function targetName(of: string, index: number): GuardName {
  return { of, role: 'take_profit', part: index + 1 };
}

/** `stop_loss`, or `take_profit 2`: which one of its signal. */
export function describeName({ role, part }: Pick<GuardName, 'role' | 'part'>): string {
  return part === undefined ? role : `${role} ${part}`;
}

interface PartLeft {
  readonly part: number;
  readonly price: PriceOrDistance;
  /** In base units. */
  readonly amount: Decimal;
}

/**
 * What each of several take-profits should still sell: its share of the whole without what it has sold. What others have
 * sold is taken from all of them alike.
 */
function partsLeft(
  parts: readonly TakeProfitPart[],
  { of, whole, left }: { readonly of: string; readonly whole: Decimal; readonly left: Decimal },
  records: readonly OrderRecord[],
): readonly PartLeft[] {
  const sold = parts.map((_, index) =>
    records
      .filter(({ protects }) => protects?.of === of && protects.part === index + 1)
      .reduce((sum, record) => sum.plus(filledBy(record)), zero),
  );
  const ownSum = sold.reduce((sum, amount) => sum.plus(amount), zero);
  // Without the sales of others, this much would be left.
  const unsold = whole.minus(ownSum);
  return parts.map(({ price, share }, index) => {
    const part = whole.times(rateOfPercent(share)).minus(sold[index] ?? zero);
    const mine = part.gt(zero) ? part : zero;
    const amount = unsold.gt(left) && unsold.gt(zero) ? mine.times(left).div(unsold) : mine;
    return { part: index + 1, price, amount: minimum(amount, left) };
  });
}

function closing(side: Side): Side {
  return side === 'buy' ? 'sell' : 'buy';
}

/** A distance counts from the average price of the fills when no response told the price. */
function priceFromDistance({ record, side }: Share, role: ExitRole): Decimal | null {
  const { asked } = record;
  const text = role === 'stop_loss' ? (asked?.stopLoss ?? asked?.trailing) : asked?.takeProfit;
  return text === undefined ? null : pricedFrom(text, averagePrice(record), role, side);
}

function averagePrice({ followed, reported }: OrderRecord): Decimal | null {
  for (const told of [followed, reported]) {
    const filled = parseDecimal(told?.filled ?? '0');
    if (told?.filledNotional !== undefined && filled.gt(zero))
      return parseDecimal(told.filledNotional).div(filled);
  }
  return null;
}

/**
 * A price, or what a distance from the entry price comes to.
 *
 * @param side of the entry
 * @returns null for a distance from a price that is not known
 */
export function pricedFrom(
  text: PriceOrDistance,
  entryPrice: Decimal | null,
  role: ExitRole,
  side: Side,
): Decimal | null {
  if (!text.endsWith('%')) return parseDecimal(text);
  if (entryPrice === null) return null;
  const distance = entryPrice.times(parseDecimal(text.slice(0, -1))).div(hundred);
  return (role === 'stop_loss') === (side === 'buy') ? entryPrice.minus(distance) : entryPrice.plus(distance);
}

function trailPrice(best: Decimal | undefined, trailing: string, side: Side): Decimal | null {
  return best === undefined ? null : pricedFrom(trailing as PriceOrDistance, best, 'stop_loss', side);
}

/** The one that protects more: a stop-loss never moves back. */
function further(planned: Decimal | null, moved: Decimal | null, side: Side): Decimal | null {
  if (planned === null || moved === null) return planned ?? moved;
  return moved.gt(planned) === (side === 'buy') ? moved : planned;
}
