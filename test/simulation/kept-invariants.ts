import { type Decimal, maximum, parseDecimal, rateOfPercent, zero } from '../../lib/base/decimal.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { stepFacts } from '../../lib/ledger/order-facts.ts';
import { orderSignalOf } from '../../lib/ledger/sent-order.ts';
import type { TakeProfitPart } from '../../lib/model/signal.ts';
import type { PositionWish } from '../../lib/model/step-facts.ts';
import { lastPriceOf, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { findNotGrown, grewAtMs, grownTo } from './grown-invariants.ts';
import { isMarketTold } from './guard-invariants.ts';
import { listPlaces, type TrueExit, type TruePlace } from './guarded-positions.ts';
import { isCreate, keyText } from './history.ts';
import type { Facts, InvariantName, Violation } from './invariants.ts';
import { createViews, isHedged } from './position-view.ts';
import { findWrongTurns } from './turned-invariants.ts';
import { leastTrade } from './wanted-positions.ts';

/** Finds orders that protect a position in another way than alerts asked for, or more than there was. */
export function findWrongProtection(facts: Facts): readonly Violation[] {
  const places = listPlaces(facts);
  const exits = places.flatMap(({ everyExit }) => everyExit);
  return [
    ...findMovedBack(exits),
    ...places.flatMap((place) => findLeftBehind(facts, place)),
    ...findWrongEntryPrices(facts),
    ...places.flatMap((place) => place.everyExit.flatMap((exit) => findLargePart(facts, place, exit))),
    ...places.flatMap((place) => findPartsAnew(facts, place)),
    ...places.flatMap((place) => findNotGrown(facts, place)),
    ...findLargeOrders(facts),
    ...findWrongTurns(facts, exits),
  ];
}

function broken(invariant: InvariantName, entry: Entry, text: string): Violation {
  return { invariant, harm: 'other', text: `${keyText(entry)} ${text}` };
}

/** A stop-loss that follows the price only ever moves with it. */
function findMovedBack(exits: readonly TrueExit[]): readonly Violation[] {
  // Without a trigger price it is the order that sells at market what a stop-loss should have sold.
  const trailing = exits.filter(({ of, order }) => order.activationPrice !== null && isTrailing(of));
  return [...Map.groupBy(trailing, ({ of }) => of).entries()].flatMap(([of, stops]) => {
    const inOrder = stops.toSorted((one, other) => one.order.orderId - other.order.orderId);
    const back = inOrder.find(({ order, placedBy }, place) => {
      const before = inOrder[place - 1];
      // The exchange makes one of a later fill at the first price.
      return placedBy !== null && before !== undefined && isBehind(order, before.order);
    })?.order;
    return back === undefined
      ? []
      : [broken('I40', of, `has a stop-loss that moved back to ${back.activationPrice?.toFixed()}`)];
  });
}

/** As a part of its distance: it moves in steps of a tenth, and may stand half a step away. */
const mostBehind = parseDecimal('1.16');

/** The price has rested by the end of a run: a stop-loss that follows it stands at its distance, or nearer. */
function findLeftBehind(facts: Facts, place: TruePlace): readonly Violation[] {
  const { account, market, amount, exits, changedAtMs } = place;
  if (facts.settings.accounts[account]?.protection !== 'keep') return [];
  // What is left is too little for an order of its own: what stands only reduces, and stays.
  if (amount.abs().lt(leastTrade(market))) return [];
  if (isMarketTold(facts, place, changedAtMs)) return [];
  const last = lastPriceOf(facts.exchange, market);
  return exits.flatMap(({ of, role, order: { side, activated, activationPrice, orderId } }) => {
    const trailing = trailingOf(of);
    if (role !== 'stop_loss' || trailing === null || activated || activationPrice === null) return [];
    const behind = side === 'sell' ? last.minus(activationPrice) : activationPrice.minus(last);
    const most = last.times(rateOfPercent(trailing)).times(mostBehind);
    return behind.lte(most)
      ? []
      : [
          broken(
            'I40',
            of,
            `has stop-loss ${orderId}, which is ${behind.toFixed()} from the price in the end`,
          ),
        ];
  });
}

function trailingOf({ signal }: Entry): string | null {
  return signal !== null && 'trailing' in signal ? (signal.trailing ?? null) : null;
}

function isTrailing(of: Entry): boolean {
  return trailingOf(of) !== null;
}

/** Rounding may move it by a step. */
function isBehind(order: PaperOrder, before: PaperOrder): boolean {
  const moved = (order.activationPrice ?? zero).minus(before.activationPrice ?? zero);
  const back = order.side === 'sell' ? moved.neg() : moved;
  return back.gt(marketNamed(order.market).priceStep);
}

/** `entry` is the average entry price of the position, as the exchange told it. */
function findWrongEntryPrices({ entries, history }: Facts): readonly Violation[] {
  return entries.flatMap((entry) => {
    const { signal, account } = entry;
    if (signal?.action !== 'protect_position' || signal.stopLoss !== 'entry') return [];
    const wish = wishOf(entry);
    if (wish?.stopLoss === undefined) return [];
    const stop = wish.stopLoss;
    const told = history.sends
      .filter(({ path, signer }) => path === openPositions.path.live && signer === account)
      .flatMap(({ outcome }) =>
        outcome?.kind === 'answered' ? numbersIn(outcome.body, wish, 'basePrice') : [],
      );
    const isTold = told.some((price) => price.minus(parseDecimal(stop)).abs().lt(leastDifference));
    return isTold ? [] : [broken('I41', entry, `was to stop at the entry price, and stops at ${stop}`)];
  });
}

const leastDifference = parseDecimal('0.0000001');

function wishOf(entry: Entry): PositionWish | undefined {
  return entry.steps.at(-1)?.facts?.wish;
}

/** What the list of positions says of the one that a wish is for. */
function numbersIn(
  body: string,
  { market, side }: PositionWish,
  field: 'amount' | 'basePrice',
): readonly Decimal[] {
  try {
    const positions = JSON.parse(body) as readonly ({
      readonly market: string;
      readonly positionSide?: string | null;
    } & Readonly<Record<typeof field, string | null>>)[];
    return positions.flatMap((position) => {
      const text = position[field];
      const isOfWish = position.market === market && (position.positionSide ?? 'BOTH') === (side ?? 'BOTH');
      return isOfWish && typeof text === 'string' ? [parseDecimal(text)] : [];
    });
  } catch {
    return [];
  }
}

/** One of several take-profits sells at most its share of the whole. */
function findLargePart(
  facts: Facts,
  place: TruePlace,
  { order, of, placedBy }: TrueExit,
): readonly Violation[] {
  const signal = placedBy?.signal;
  if (signal?.action !== 'protect' || signal.part === undefined || placedBy === null) return [];
  const part = partsOf(of)[signal.part - 1];
  const whole = wholeOf(facts, place, of);
  if (part === undefined || whole === null) return [];
  const most = whole.times(rateOfPercent(part.share)).plus(marketNamed(order.market).amountStep);
  return order.amount.lte(most)
    ? []
    : [
        broken(
          'I41',
          placedBy,
          `sells ${order.amount.toFixed()}, and its share of the whole is ${part.share}`,
        ),
      ];
}

/** One that has filled wholly has sold its share, also when the sales of others had made it smaller. */
function findPartsAnew(facts: Facts, place: TruePlace): readonly Violation[] {
  const parts = place.everyExit.filter(({ placedBy }) => partNumberOf(placedBy) !== undefined);
  return parts.flatMap(({ of, order, placedBy }) => {
    const grewLastMs = lastGrowthMs(facts, place, of);
    const sold = parts.find(
      (other) =>
        other.of === of &&
        partNumberOf(other.placedBy) === partNumberOf(placedBy) &&
        other.order.status === 'filled' &&
        other.order.orderId < order.orderId &&
        (grewLastMs === undefined || grewLastMs < other.order.createdAtMs) &&
        knewShare(facts, place, other),
    );
    return sold === undefined || placedBy === null
      ? []
      : [broken('I41', placedBy, `is placed although order ${sold.order.orderId} has sold its share`)];
  });
}

/** When what its share is a share of has grown last. */
function lastGrowthMs({ exchange, entries }: Facts, place: TruePlace, of: Entry): number | undefined {
  const wish = wishOf(of);
  if (wish !== undefined) return grewAtMs(place, { of, wish }, entries, exchange);
  return exchange.deals.findLast(
    ({ account, clientOrderId }) => account === of.account && clientOrderId === of.clientOrderId,
  )?.atMs;
}

/** Whether it was placed for its share of all that there was: the last fill may not have been listed yet. */
function knewShare(facts: Facts, place: TruePlace, { of, order, placedBy }: TrueExit): boolean {
  const whole = wholeOf(facts, place, of);
  const part = partsOf(of)[(partNumberOf(placedBy) ?? 0) - 1];
  const known = placedBy === null ? undefined : stepFacts(placedBy, 'sending').protective?.ofShare;
  if (part === undefined || whole === null || known === undefined) return true;
  if (wishOf(of) !== undefined && wholeAtFirst(facts, of)?.gte(whole) === true) return true;
  const share = whole.times(rateOfPercent(part.share));
  return parseDecimal(known).plus(marketNamed(order.market).amountStep).gte(share);
}

function partNumberOf(placedBy: Entry | null): number | undefined {
  return placedBy?.signal?.action === 'protect' ? placedBy.signal.part : undefined;
}

function partsOf(of: Entry): readonly Pick<TakeProfitPart, 'share'>[] {
  return orderSignalOf(of)?.takeProfits ?? wishOf(of)?.takeProfits ?? [];
}

/** What the shares are shares of. */
function wholeOf(facts: Facts, place: TruePlace, of: Entry): Decimal | null {
  const { exchange, entries } = facts;
  const wish = wishOf(of);
  if (wish !== undefined)
    return maximum(wholeAtFirst(facts, of) ?? zero, grownTo(place, { of, wish }, entries, exchange));
  const own = [...exchange.orders.values()].find(
    ({ account, clientOrderId }) => account === of.account && clientOrderId === of.clientOrderId,
  );
  return own?.filled ?? null;
}

/** The position when an alert asked to protect it; null for an entry. */
function wholeAtFirst({ history }: Facts, of: Entry): Decimal | null {
  const wish = wishOf(of);
  return wish === undefined
    ? null
    : positionsRead(of, wish, history).reduce(maximum, parseDecimal(wish.amount).abs());
}

/**
 * The position that each delivery of a signal has read. A message that is delivered twice is carried out twice: the later reading
 * counts, and the entry may have the earlier one.
 */
function positionsRead(of: Entry, wish: PositionWish, { sends }: Facts['history']): readonly Decimal[] {
  const readings = sends.filter(
    ({ key, path }) => key !== null && keyText(key) === keyText(of) && path === openPositions.path.live,
  );
  const last = new Map(readings.map(({ invocation, outcome }) => [invocation, outcome]));
  return [...last.values()]
    .flatMap((outcome) => (outcome?.kind === 'answered' ? numbersIn(outcome.body, wish, 'amount') : []))
    .map((amount) => amount.abs());
}

/** What protects a position is not larger than one that the relay can have read. */
function findLargeOrders(facts: Facts): readonly Violation[] {
  const viewOf = createViews(facts);
  const byKey = new Map(facts.entries.map((entry) => [keyText(entry), entry]));
  return facts.history.sends.flatMap((send) => {
    const entry = send.key === null || !isCreate(send.path) ? undefined : byKey.get(keyText(send.key));
    if (entry?.signal?.action !== 'protect' || isHedged(facts, entry)) return [];
    if (stepFacts(entry, 'sending').spot !== undefined) return [];
    const { side, amount } = JSON.parse(send.body) as { readonly side: string; readonly amount: string };
    const { believable } = viewOf(entry, send);
    const held = believable.map((position) => (side === 'sell' ? position : position.neg()));
    if (held.some((position) => position.gte(parseDecimal(amount)))) return [];
    const seen = believable.map((position) => position.toFixed()).join(', ');
    return [broken('I42', entry, `sent an order for ${amount}, and the position was ${seen}`)];
  });
}
