import { type Decimal, minimum, parseDecimal, sumOf, zero } from '../base/decimal.ts';
import type { EntryKey } from '../ledger/entry.ts';
import { bookFill, type CostPosition, toCostFill } from '../model/average-cost.ts';
import {
  bookKeyOfFill,
  type FirstHoldings,
  isFillOnSpot,
  marketOfKey,
  spotKeyOf,
} from '../model/cost-books.ts';
import { type Fill, type FillRole, isOfExit, isOfSignal } from '../model/execution.ts';
import { openingSideOf } from '../model/holdings.ts';
import { type Currencies, currenciesInName } from '../model/market.ts';
import { soldByOne } from '../model/one-strategy.ts';
import { oppositeOf, type Side } from '../model/order.ts';
import { protectionNamedBy } from '../model/protect-id.ts';

/**
 * What the fills of one signal opened and closed. Profits are in the quote currency, after the fees of what opened and of
 * what closed.
 */
export interface EntryLot {
  readonly market: string;
  /** Of the order, not of its exits. */
  readonly side: Side;
  readonly strategy: string | undefined;
  /** Whether it is a buy on spot without a stop-loss, which any strategy may sell. */
  readonly isUnguarded: boolean;
  /** How much its order opened, in base units. */
  readonly opened: Decimal;
  /** How much of that no fill has closed yet, in base units. */
  readonly left: Decimal;
  /** What the closed part made. */
  readonly profit: Decimal;
  /** What closed parts of it: stop-losses, take-profits, orders of other signals. */
  readonly closedBy: ReadonlySet<FillRole>;
  /** How much its order closed of what other signals had opened, in base units. */
  readonly closed: Decimal;
  /** What that made. */
  readonly realised: Decimal;
  /**
   * What its order closed although no stored fill had opened it, in base units. Its profit is unknown. What it sold beside what
   * it closed is not in it while it is no more than the fee that was taken of that: the owner's own coins stood in for it.
   */
  readonly unmatched: Decimal;
  /** Currencies of fees that are neither base nor quote: no profit has these fees in it. */
  readonly unvaluedFees: readonly string[];
  /** When a fill last changed what is left. */
  readonly changedAtMs: number;
}

/** Books fills, oldest first, and tells for each signal what became of what it opened. */
export interface LotBooks {
  /** Adds what an account held when it was first read, beyond what fills have opened: no signal opened that. */
  holdFirst(account: string, first: FirstHoldings): void;
  /** @param strategy of the signal of the fill, as far as it is known */
  book(fill: Fill, strategy?: string): void;
  /** Null when no fill of the signal is booked. */
  lotOf(key: EntryKey): EntryLot | null;
  /** What is left of all signals of an account in the positions of a market, in base units. */
  leftOf(account: string, market: string, side: Side): Decimal;
  /** When a fill last changed what an account holds of a market; null: no fill did. */
  changedAtMsOf(account: string, market: string): number | null;
}

/** What a lot takes from the fill that begins it. */
type LotFill = Pick<Fill, 'account' | 'signalId' | 'market' | 'side' | 'role' | 'atMs' | 'isUnguarded'>;

type Changeable = { -readonly [Field in keyof EntryLot]: EntryLot[Field] } & {
  readonly closedBy: Set<FillRole>;
  /** What was taken of it as a fee in the base currency, and no sale has sold instead, in base units. */
  feeInBase: Decimal;
  /** The same of the lots that it closed as a whole. */
  feeOfClosed: Decimal;
  /** What is left was opened for this, with its fees: paid by a buy, received by a sell. */
  cost: Decimal;
  readonly unvalued: Set<string>;
};

/**
 * An exit closes what its own entry opened, also one that the relay placed for it. Any other fill, by hand, too, closes what was opened first, as TradingView's strategies do
 * unless they say otherwise. On spot, a sale closes what {@link soldByOne} says.
 *
 * @param isSpot whether a market trades on the spot account, for fills that do not say it
 */
export function createLotBooks(isSpot: (account: string, market: string) => boolean): LotBooks {
  /** By account. */
  const positions = new Map<string, Map<string, CostPosition>>();
  const lots = new Map<string, Changeable>();
  /** By position: what is not closed yet, first opened first. */
  const queues = new Map<string, Changeable[]>();
  const changedAtMs = new Map<string, number>();

  /** What the order of the relay protects that was filled; undefined for any other one. */
  function protectedBy({ account, signalId }: Fill): Changeable | undefined {
    const named = protectionNamedBy(signalId);
    return named === null ? undefined : lots.get(keyOf({ account, signalId: named.of }));
  }

  function positionsOf(account: string): Map<string, CostPosition> {
    const held = positions.get(account) ?? new Map<string, CostPosition>();
    positions.set(account, held);
    return held;
  }

  /** @param place deals of no signal have a lot for each position and side */
  function lotFor(fill: LotFill, place: string, strategy: string | undefined): Changeable {
    const key = isOfSignal(fill) ? keyOf(fill) : JSON.stringify([place, 'other', fill.side]);
    const lot = lots.get(key) ?? createLot(fill, strategy);
    lots.set(key, lot);
    return lot;
  }

  /** What an exit opened when its position was closed before it: the other side, and no part of its entry. */
  function turnedLotFor(fill: Fill, currencies: Currencies): Changeable {
    const key = JSON.stringify([fill.account, fill.signalId, 'turned', fill.side]);
    const lot = lots.get(key) ?? { ...createLot(fill, undefined), side: fill.side };
    lots.set(key, lot);
    noteFee(lot, fill, currencies);
    return lot;
  }

  return {
    holdFirst(account, first) {
      const held = positionsOf(account);
      const isTold = (market: string) => !first.except.has(market);
      // What was not held any more was closed by fills that nobody has read.
      for (const key of [...held.keys()].filter((one) => !first.books.has(one) && isTold(marketOfKey(one)))) {
        held.delete(key);
        queues.delete(JSON.stringify([account, key]));
      }
      for (const [key, position] of first.books) {
        const market = marketOfKey(key);
        if (!isTold(market)) continue;
        const before = held.get(key)?.amount ?? zero;
        const amount = position.amount.minus(before);
        // Fills that nobody has read have closed a part of it: which one is not known.
        if (!amount.times(position.amount).gt(zero) || before.times(position.amount).lt(zero)) continue;
        const side = openingSideOf(amount);
        const place = JSON.stringify([account, key]);
        const fill = { account, signalId: '', market, side, role: 'other', atMs: first.atMs } as const;
        const lot = lotFor(fill, place, undefined);
        lot.opened = lot.opened.plus(amount.abs());
        lot.left = lot.left.plus(amount.abs());
        lot.cost = lot.cost.plus(position.cost.times(amount).div(position.amount));
        held.set(key, position);
        queues.set(place, [...(queues.get(place) ?? []), lot]);
      }
    },
    book(fill, strategy) {
      const { account, market } = fill;
      const currencies = currenciesInName(market);
      const onSpot = isFillOnSpot(fill, (of) => isSpot(account, of));
      const held = positionsOf(account);
      const position = onSpot ? spotKeyOf(market, undefined) : bookKeyOfFill(held, fill);
      const key = JSON.stringify([account, position]);
      changedAtMs.set(JSON.stringify([account, market]), fill.atMs);
      const own = lotFor(fill, key, strategy);
      noteFee(own, fill, currencies);
      const queue = (queues.get(key) ?? []).filter(({ left }) => left.gt(zero));
      queues.set(key, queue);
      const closable = onSpot ? soldByOne(queue, strategy) : queue;
      const booked = onSpot
        ? bookOnSpot(fill, closable)
        : bookFill(held, fill, { key: position, currencies, isSpot: false, onlyReduces: false });
      close(closable, own, fill, { amount: booked.closed, protectedLot: protectedBy(fill) });
      const opened = booked.amount.minus(booked.closed).minus(booked.unmatched);
      if (!isOfExit(fill)) noteUnmatched(own, booked.unmatched);
      if (opened.gt(zero)) open(queue, isOfExit(fill) ? turnedLotFor(fill, currencies) : own, fill, opened);
      // A fee in the base currency leaves the position.
      const rest = held.get(position)?.amount.abs() ?? zero;
      const paid = minimum(own.left, onSpot ? baseFeeOf(fill, currencies) : sumLeft(queue).minus(rest));
      if (!paid.gt(zero)) return;
      own.left = own.left.minus(paid);
      own.feeInBase = own.feeInBase.plus(paid);
    },
    lotOf(key) {
      const lot = lots.get(keyOf(key));
      return lot === undefined ? null : { ...lot, unvaluedFees: [...lot.unvalued].sort() };
    },
    leftOf: (account, market, side) =>
      [...queues]
        .filter(([key]) => isPlaceIn(key, account, market))
        .map(([, queue]) => sumLeft(queue.filter((lot) => lot.side === side)))
        .reduce((sum, left) => sum.plus(left), zero),
    changedAtMsOf: (account, market) => changedAtMs.get(JSON.stringify([account, market])) ?? null,
  };
}

/** On spot a buy closes nothing, and a sale no more than what may be closed by it. */
function bookOnSpot({ side, amount: text }: Fill, closable: readonly EntryLot[]) {
  const amount = parseDecimal(text);
  if (side === 'buy') return { amount, closed: zero, unmatched: zero };
  const closed = minimum(amount, sumLeft(closable));
  return { amount, closed, unmatched: amount.minus(closed) };
}

function baseFeeOf({ fee, feeAsset }: Fill, { base }: Currencies): Decimal {
  return feeAsset === base ? parseDecimal(fee) : zero;
}

function sumLeft(lots: readonly Pick<EntryLot, 'left'>[]): Decimal {
  return sumOf(lots.map(({ left }) => left));
}

/** Whether the key is that of a position of a market; in hedge mode it ends with the side. */
function isPlaceIn(key: string, account: string, market: string): boolean {
  const sides = [market, `${market} LONG`, `${market} SHORT`];
  return sides.some((place) => key === JSON.stringify([account, place]));
}

function keyOf({ account, signalId }: EntryKey): string {
  return JSON.stringify([account, signalId]);
}

function createLot(
  { market, side, role, atMs, isUnguarded }: LotFill,
  strategy: string | undefined,
): Changeable {
  return {
    market,
    side: isOfExit({ role }) ? oppositeOf(side) : side,
    strategy,
    isUnguarded: isUnguarded === true,
    opened: zero,
    left: zero,
    profit: zero,
    closedBy: new Set(),
    closed: zero,
    realised: zero,
    unmatched: zero,
    unvaluedFees: [],
    changedAtMs: atMs,
    feeInBase: zero,
    feeOfClosed: zero,
    cost: zero,
    unvalued: new Set(),
  };
}

function noteUnmatched(own: Changeable, amount: Decimal): void {
  const forFee = minimum(amount, own.feeOfClosed);
  own.feeOfClosed = own.feeOfClosed.minus(forFee);
  own.unmatched = own.unmatched.plus(amount).minus(forFee);
}

function noteFee({ unvalued }: Changeable, { feeAsset, fee }: Fill, { base, quote }: Currencies): void {
  if (feeAsset !== base && feeAsset !== quote && !parseDecimal(fee).eq(zero)) unvalued.add(feeAsset);
}

/** The part of a fill's fee that falls on a part of its amount, in the quote currency. */
function feeOf(fill: Fill, part: Decimal): Decimal {
  const { fee, baseFee = zero, price, amount } = toCostFill(fill, currenciesInName(fill.market));
  const whole = fee.plus(baseFee.times(price));
  return part.eq(amount) ? whole : whole.times(part).div(amount);
}

function open(queue: Changeable[], own: Changeable, fill: Fill, amount: Decimal): void {
  const notional = amount.times(fill.price);
  // A fee in the base currency is a part of what was bought: it is in the cost already.
  const fee = fill.feeAsset === currenciesInName(fill.market).base ? zero : feeOf(fill, amount);
  own.opened = own.opened.plus(amount);
  own.left = own.left.plus(amount);
  own.cost = own.cost.plus(fill.side === 'buy' ? notional.plus(fee) : notional.minus(fee));
  own.changedAtMs = fill.atMs;
  if (!queue.includes(own)) queue.push(own);
}

function close(
  queue: readonly Changeable[],
  own: Changeable,
  fill: Fill,
  { amount, protectedLot }: { readonly amount: Decimal; readonly protectedLot: Changeable | undefined },
): void {
  const isExit = isOfExit(fill);
  const first = isExit ? own : protectedLot;
  const order = first === undefined ? queue : [first, ...queue.filter((lot) => lot !== first)];
  const closer = isExit ? fill.role : (protectionNamedBy(fill.signalId)?.role ?? fill.role);
  let rest = amount;
  for (const lot of order) {
    const part = minimum(rest, lot.left);
    if (!part.gt(zero)) continue;
    rest = rest.minus(part);
    const profit = closePart(lot, fill, part);
    lot.profit = lot.profit.plus(profit);
    lot.closedBy.add(closer);
    if (!isExit) {
      own.closed = own.closed.plus(part);
      own.realised = own.realised.plus(profit);
      if (lot.left.eq(zero)) {
        own.feeOfClosed = own.feeOfClosed.plus(lot.feeInBase);
        lot.feeInBase = zero;
      }
      for (const asset of lot.unvalued) own.unvalued.add(asset);
    }
    for (const asset of own.unvalued) lot.unvalued.add(asset);
  }
}

/** @returns what the part made, less the fees of both sides */
function closePart(lot: Changeable, fill: Fill, part: Decimal): Decimal {
  // The last part takes the rest of the cost, so that no rounding of the parts before is left behind.
  const cost = part.eq(lot.left) ? lot.cost : lot.cost.times(part).div(lot.left);
  lot.left = lot.left.minus(part);
  lot.cost = lot.cost.minus(cost);
  lot.changedAtMs = fill.atMs;
  const worth = part.times(fill.price);
  const gain = fill.side === 'sell' ? worth.minus(cost) : cost.minus(worth);
  return gain.minus(feeOf(fill, part));
}
