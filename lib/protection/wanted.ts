import {
  type Decimal,
  hundred,
  maximum,
  minimum,
  parseDecimal,
  rateOfPercent,
  zero,
} from '../base/decimal.ts';
import { averagePrice, filledBy, type OrderRecord, sentOrCreatedAtMs } from '../ledger/order-record.ts';
import { openingSideOf } from '../model/holdings.ts';
import { oppositeOf, type Side } from '../model/order.ts';
import type { ExitRole, PercentText, PriceOrDistance, TakeProfitPart } from '../model/signal.ts';
import type { PositionWish } from '../model/step-facts.ts';
import { type GuardedPosition, isOfSide, type Share, shareOut } from './shares.ts';
import { asksFor, holdsFor, type ProtectionSight, type SoldShare } from './wishes.ts';

/** A stop-loss moves when the best price has gone at least this part of its distance further: a bound on orders. */
export const leastMoveRate = parseDecimal('0.1');

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
  /** Of a price that moves: how far from it an order may stand and still fit; null for one that does not. */
  readonly leeway: Decimal | null;
  /** How much of the position it protects, in base units. */
  readonly amount: Decimal;
  /** Of one of several take-profits: what of its share that is, before the sales of others, in base units. */
  readonly ofShare?: Decimal;
  /** The order that opened the part; null for what an alert asked for the whole position. */
  readonly record: OrderRecord | null;
}

/** What the wanted protection of a position follows from. */
export interface WantedView {
  /** Of the market, oldest first. */
  readonly records: readonly OrderRecord[];
  /** What alerts asked for the whole position, oldest first. */
  readonly wishes: readonly PositionWish[];
  readonly sight: ProtectionSight;
}

/**
 * What should protect a position: the stop-loss and the take-profits of the orders that opened it, each for what of that
 * order is left. What an alert asked for the whole position takes the place of what older orders asked for.
 */
export function wantedGuards(position: GuardedPosition, view: WantedView): readonly WantedGuard[] {
  const { records, sight } = view;
  const shares = shareOut(records, position);
  const wishes = view.wishes.filter((wish) => holdsFor(wish, position));
  const ofOrders = shares.flatMap((share) =>
    guardsOfOrder(share, records, sight).map((guard) =>
      isReplaced(guard, share, wishes) ? { ...guard, amount: zero } : guard,
    ),
  );
  const ofWishes = wishes.flatMap((wish) => guardsOfWish(wish, position, shares, view));
  const guards = [...ofOrders, ...ofWishes.filter((guard) => !isReleased(guard, sight))];
  return [...guards, ...guardsLeft(guards, position, view)];
}

/** What an alert asked for the whole position, and the owner has ended by hand: it is wanted no more. */
export function releasedGuards(position: GuardedPosition, view: WantedView): readonly WantedGuard[] {
  const shares = shareOut(view.records, position);
  return view.wishes
    .filter((wish) => holdsFor(wish, position))
    .flatMap((wish) => guardsOfWish(wish, position, shares, view))
    .filter((guard) => isReleased(guard, view.sight));
}

function isReleased(name: GuardName, { released }: ProtectionSight): boolean {
  return released.has(describeGuard(name));
}

/**
 * Nothing is wanted any more of what an earlier alert placed, or one about a position that is gone; nor of what was placed for
 * an order that is not among the records, because it is done. What was placed for the other side of hedge mode is not about
 * this position.
 */
function guardsLeft(
  guards: readonly WantedGuard[],
  position: GuardedPosition,
  { records, wishes }: WantedView,
): readonly WantedGuard[] {
  const wanted = new Set(guards.map(describeGuard));
  const known = new Set(records.map(({ signalId }) => signalId));
  const left = new Map<string, WantedGuard>();
  for (const { protects, asked, status } of records) {
    if (protects === null || asked === null || status !== 'placed') continue;
    if (!isOfSide(position, asked)) continue;
    const { of, role, part } = protects;
    const name = { of, role, ...(part === undefined ? {} : { part }) };
    const isLeft = !known.has(of) || wishes.some(({ signalId }) => signalId === of);
    if (!isLeft || wanted.has(describeGuard(name))) continue;
    const { side } = asked;
    left.set(describeGuard(name), { ...name, side, price: null, leeway: null, amount: zero, record: null });
  }
  return [...left.values()];
}

/** Whether an alert about the whole position has asked for another one since. */
function isReplaced({ role }: GuardName, { record }: Share, wishes: readonly PositionWish[]): boolean {
  return wishes.some((wish) => sentOrCreatedAtMs(record) <= wish.atMs && asksFor(wish, role));
}

/** What the exchange makes of an order comes first: its own stop-loss, or its one take-profit. */
function guardsOfOrder(
  share: Share,
  records: readonly OrderRecord[],
  sight: ProtectionSight,
): readonly WantedGuard[] {
  const { record, side, amount } = share;
  const of = record.signalId;
  const shared = { of, side: oppositeOf(side), record };
  const trailing = record.asked?.trailing;
  const made = oneOfEachRole(record.exits).map(({ role, price }): WantedGuard => {
    const planned = price ?? priceFromDistance(share, role);
    if (role === 'take_profit') return { ...shared, role, price: planned, leeway: null, amount };
    return { ...shared, role, ...trailed(planned, { trailing, best: sight.best.get(of), side }), amount };
  });
  const average = averagePrice(record);
  const parts = record.asked?.takeProfits ?? [];
  const left = partsLeft(parts, { of, whole: filledBy(record), left: amount }, records);
  return [
    ...made,
    ...left.map(
      ({ part, price, amount: ofPart, ofShare }): WantedGuard => ({
        ...shared,
        role: 'take_profit',
        part,
        price: pricedFrom(price, average, 'take_profit', side),
        leeway: null,
        amount: ofPart,
        ofShare,
      }),
    ),
  ];
}

/** What of a position an alert asked to protect: what newer orders have not opened, in base units. */
export function leftForWish(
  wish: PositionWish,
  position: GuardedPosition,
  shares: readonly Share[],
): Decimal {
  const newer = shares
    .filter(({ record }) => sentOrCreatedAtMs(record) > wish.atMs)
    .reduce((sum, { amount }) => sum.plus(amount), zero);
  return position.amount.abs().minus(newer);
}

/** What the take-profits that an alert asked for are shares of, in base units. */
export function wholeOfWish({ signalId, amount }: PositionWish, { grown }: ProtectionSight): Decimal {
  return maximum(parseDecimal(amount).abs(), grown.get(signalId) ?? zero);
}

/** What should protect what an alert asked to protect. What was ended by hand is among it, too. */
function guardsOfWish(
  wish: PositionWish,
  position: GuardedPosition,
  shares: readonly Share[],
  { records, sight }: WantedView,
): readonly WantedGuard[] {
  const left = leftForWish(wish, position, shares);
  const side = openingSideOf(position.amount);
  const { signalId: of, trailing } = wish;
  const shared = { of, side: oppositeOf(side), record: null };
  const stop: WantedGuard[] = [];
  if (asksFor(wish, 'stop_loss')) {
    const planned = wish.stopLoss === undefined ? null : parseDecimal(wish.stopLoss);
    const moved = trailed(planned, { trailing, best: sight.best.get(of), side });
    stop.push({ ...shared, role: 'stop_loss', ...moved, amount: left });
  }
  const whole = wholeOfWish(wish, sight);
  const parts = partsLeft(wish.takeProfits ?? [], { of, whole, left }, records, sight.sold);
  return [
    ...stop,
    ...parts.map(({ part, price, amount, ofShare }): WantedGuard => {
      const limit = parseDecimal(price);
      return { ...shared, role: 'take_profit', part, price: limit, leeway: null, amount, ofShare };
    }),
  ];
}

/** What an order may have asked for. */
export function namesOf({ signalId: of, exits, asked }: OrderRecord): readonly GuardName[] {
  return [
    ...oneOfEachRole(exits).map(({ role }): GuardName => ({ of, role })),
    ...(asked?.takeProfits ?? []).map((_, index) => targetName(of, index)),
  ];
}

/** The exchange may have made several, one for each fill: together they are one stop-loss or take-profit. */
function oneOfEachRole(exits: OrderRecord['exits']): OrderRecord['exits'] {
  return exits.filter((exit, place) => exits.findIndex(({ role }) => role === exit.role) === place);
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

/** `ID stop_loss`, or `ID take_profit 2`. */
export function describeGuard({ of, role, part }: GuardName): string {
  return part === undefined ? `${of} ${role}` : `${of} ${role} ${part}`;
}

interface PartLeft {
  readonly part: number;
  readonly price: PriceOrDistance;
  /** In base units. */
  readonly amount: Decimal;
  /** The same before the sales of others. */
  readonly ofShare: Decimal;
}

/**
 * What each of several take-profits should still sell: what is left of its share of the whole. What others have sold is taken
 * from all of them alike. An order that stood for less because of that uses up all that it stood for when it fills: otherwise
 * it would be placed again and again.
 *
 * @param sold what is noted of orders, because they may not be among the records any more
 */
function partsLeft(
  parts: readonly TakeProfitPart[],
  { of, whole, left }: { readonly of: string; readonly whole: Decimal; readonly left: Decimal },
  records: readonly OrderRecord[],
  sold: readonly SoldShare[] = [],
): readonly PartLeft[] {
  const shares = parts.map(({ share }) => whole.times(rateOfPercent(share)));
  const unsold = shares.map((share, index) => {
    const noted = sold.filter((part) => part.of === of && part.part === index + 1);
    const isNoted = ({ signalId }: OrderRecord) => noted.some(({ by }) => by === signalId);
    const due = noted.reduce((rest, { amount }) => rest.minus(parseDecimal(amount)), share);
    const own = records.filter(({ protects }) => protects?.of === of && protects.part === index + 1);
    const rest = own.reduce(
      (still, record) => (isNoted(record) ? still : still.minus(usedUpBy(record, still))),
      due,
    );
    return rest.gt(zero) ? rounded(rest) : zero;
  });
  // Without the sales of others, this much would be left.
  const all = shares.reduce((sum, share, index) => sum.minus(share).plus(unsold[index] ?? zero), whole);
  return parts.map(({ price }, index) => {
    const ofShare = unsold[index] ?? zero;
    const amount = all.gt(left) ? rounded(ofShare.times(left).div(all)) : ofShare;
    return { part: index + 1, price, amount: minimum(amount, left), ofShare };
  });
}

/** A quotient is cut off: an amount that comes out a trace below a step of the market must not lose that step. */
function rounded(amount: Decimal): Decimal {
  return amount.round(amountPlaces, roundHalfUp);
}

/** More than any market has, and few enough to be stored. */
const amountPlaces = 16;
const roundHalfUp = 1;

/**
 * How much of the share of one of several take-profits an order has used up, in base units.
 *
 * @param due what of the share was left before: an order that does not say what it stood for was for all of that; absent:
 *   such an order was for what it asked for
 */
export function usedUpBy(record: OrderRecord, due?: Decimal): Decimal {
  const { amount, ofShare } = record;
  const filled = filledBy(record);
  const stoodFor = ofShare ?? due ?? amount;
  return amount?.gt(zero) === true && stoodFor !== null
    ? rounded(stoodFor.times(filled).div(amount))
    : filled;
}

/** A distance counts from the average price of the fills when no response told the price. */
function priceFromDistance({ record, side }: Share, role: ExitRole): Decimal | null {
  const { asked } = record;
  const text = role === 'stop_loss' ? (asked?.stopLoss ?? asked?.trailing) : asked?.takeProfit;
  return text === undefined ? null : pricedFrom(text, averagePrice(record), role, side);
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

interface Trail {
  /** Undefined: it does not follow the price. */
  readonly trailing: PercentText | undefined;
  /** The best price that was seen; undefined before one was. */
  readonly best: Decimal | undefined;
  /** Of the entry. */
  readonly side: Side;
}

/** Of the least move of a stop-loss, so that one that has moved with the price is not taken for another. */
const leewayRate = leastMoveRate.div('2');

/** Where a stop-loss that follows the price stands: it never moves back. */
export function trailed(
  planned: Decimal | null,
  { trailing, best, side }: Trail,
): Pick<WantedGuard, 'price' | 'leeway'> {
  if (trailing === undefined || best === undefined) return { price: planned, leeway: null };
  const moved = pricedFrom(trailing, best, 'stop_loss', side) ?? best;
  const isFurther = planned === null || moved.gt(planned) === (side === 'buy');
  return {
    price: isFurther ? moved : planned,
    leeway: best.times(rateOfPercent(trailing)).times(leewayRate),
  };
}
