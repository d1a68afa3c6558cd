import type { BookedDeals, FollowedDeal } from '../../account/booked-deals.ts';
import { mayBeExit } from '../../account/exits.ts';
import { type Decimal, formatDecimal, parseDecimal, zero } from '../../base/decimal.ts';
import type { Entry } from '../../ledger/entry.ts';
import { fillMarksOf, stepFacts } from '../../ledger/order-facts.ts';
import { type WantedExit, wantedExitsOf } from '../../ledger/sent-order.ts';
import {
  type AttachedOrders,
  type Execution,
  type Fill,
  isStillOpen,
  type OrderExecution,
  type OrderRole,
  positionMarksOf,
  type SoldOf,
} from '../../model/execution.ts';
import { exitPriceOf, oppositeOf } from '../../model/order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import type { AccountMemory, OrderPlaceName } from './follow-memory.ts';
import { type FillTimes, findExit, isOfMillisecond, isOfMoment, type Unnamed } from './followed-exits.ts';
import { type FollowedName, type Judgement, judgeOrder } from './followed-order.ts';

interface Subject extends FollowedName {
  readonly before: OrderExecution | null;
  judgement: Judgement | null;
}

/** An order that has filled, of which the exchange may have made exits. */
interface MadeOf {
  readonly own: OrderExecution;
  /** In base units. */
  readonly filled: Decimal;
  readonly fills: FillTimes;
}

/** What the watch of the stop-loss found; absent fields are removed from what is stored. */
export interface Watched {
  readonly unprotectedSinceMs?: number;
  readonly unprotectedAtMs?: number;
  readonly exitsEnded?: true;
}

/** An entry whose orders are followed: its own, and the exits that the exchange made from it. */
export class FollowedEntry {
  readonly entry: Entry;
  readonly signal: OrderSignal;
  /** The exits that it asked for. */
  readonly wanted: readonly WantedExit[];
  /** Its own order first. */
  readonly #subjects: Subject[];
  /** What the watch of the stop-loss found. */
  watched: Watched;
  /** Whether nothing more can become of it. */
  isDone = false;
  /** Of a spot sale: what it sold of buys that are not followed any more, or were open then. */
  soldOf: SoldOf;
  /** What the exchange made of it and no list of orders shows; null: nothing. */
  attached: AttachedOrders | null;

  /** @param orderId null: not known yet */
  constructor(entry: Entry, signal: OrderSignal, orderId: number | null) {
    this.entry = entry;
    this.signal = signal;
    this.wanted = wantedExitsOf(entry);
    const [own = null, ...exits] = entry.execution?.orders ?? [];
    this.#subjects =
      orderId === null
        ? []
        : [
            { role: 'order', orderId, amount: this.#askedAmount(), before: own, judgement: null },
            ...exits.map((before) => ({ ...nameOf(before), before, judgement: null })),
          ];
    this.watched = watchedOf(entry.execution);
    this.soldOf = entry.execution?.soldOf ?? {};
    this.attached = entry.execution?.attached ?? null;
  }

  /** Whether it is an order on spot, whose stop-loss the relay places itself. */
  get isSpot(): boolean {
    return stepFacts(this.entry, 'sending').spot !== undefined;
  }

  get isSpotSale(): boolean {
    return this.isSpot && this.signal.side === 'sell';
  }

  get market(): string {
    return this.signal.market;
  }

  get clientOrderId(): string | null {
    return this.entry.clientOrderId;
  }

  /** Empty while the id of its own order is not known. */
  get names(): readonly OrderPlaceName[] {
    return this.#subjects.map(({ orderId }) => ({ market: this.market, orderId }));
  }

  /** Those of its orders that must be asked for alone. */
  get unexplained(): readonly OrderPlaceName[] {
    return this.#subjects
      .filter(({ judgement }) => judgement?.isUnexplained === true)
      .map(({ orderId }) => ({ market: this.market, orderId }));
  }

  /** Its orders of which more fills are listed than they can have. */
  get overfilled(): readonly (OrderPlaceName & BookedDeals)[] {
    return this.#subjects.flatMap(({ orderId, judgement }) =>
      judgement?.booked.isContradicted === true
        ? [{ market: this.market, orderId, ...judgement.booked }]
        : [],
    );
  }

  /** What is known of its own order. */
  get own(): OrderExecution | null {
    return this.#subjects[0]?.judgement?.order ?? null;
  }

  /** What is known of the exits of this kind: one, unless the exchange has made one for each fill. */
  exits(role: OrderRole): readonly OrderExecution[] {
    return this.#subjects.flatMap((subject) =>
      subject.role === role ? (subject.judgement?.order ?? []) : [],
    );
  }

  /** The part of what was filled that has not left the position through an exit, in base units. */
  get held(): Decimal {
    const [own = zero, ...exits] = this.#subjects.map(({ judgement }) =>
      parseDecimal(judgement?.order?.filled ?? '0'),
    );
    return exits.reduce((rest, filled) => rest.minus(filled), own);
  }

  /** How much of its own order had been filled at a time, in base units. The newest fills are in memory, older ones may not be. */
  filledAt(atMs: number): Decimal {
    return this.#ownDeals.reduce(
      (sum, deal) => (deal.atMs > atMs ? sum.minus(deal.amount) : sum),
      parseDecimal(this.own?.filled ?? '0'),
    );
  }

  /**
   * The same, at the last fill of another order: of what was filled in one millisecond the exchange numbers the earlier one first.
   *
   * @param atMs when that other order ended
   */
  filledBefore(other: FollowedEntry | undefined, atMs: number): Decimal {
    const ids = other === undefined ? [] : other.#ownDeals.map(({ id }) => id);
    const until = this.#ownDeals.filter(
      (deal) => deal.atMs === atMs && ids.length > 0 && ids.every((id) => id < deal.id),
    );
    return until.reduce((sum, { amount }) => sum.minus(amount), this.filledAt(atMs));
  }

  get #ownDeals() {
    return this.#subjects[0]?.judgement?.booked.deals ?? [];
  }

  /** Whether all its orders have ended and all their fills are known. */
  get areOrdersWhole(): boolean {
    return this.#subjects.length > 0 && this.#subjects.every(({ judgement }) => judgement?.isWhole === true);
  }

  setOrderId(orderId: number): void {
    const amount = this.#askedAmount();
    this.#subjects.push({ role: 'order', orderId, amount, before: null, judgement: null });
  }

  /** Judges all its orders by what is known now. */
  judge(memory: AccountMemory, nowMs: number): void {
    this.#subjects.sort((one, other) => roleOrder[one.role] - roleOrder[other.role]);
    for (const subject of this.#subjects) {
      const known = memory.knownOf({ market: this.market, orderId: subject.orderId });
      const isHidden = this.attached?.exits.some(({ orderId }) => orderId === subject.orderId) === true;
      subject.judgement = judgeOrder({ ...subject, isHidden }, subject.before, known, nowMs);
      if (!subject.judgement.isUnexplained) {
        known.unexplainedSinceMs = null;
        known.tries = 0;
      } else known.unexplainedSinceMs ??= nowMs;
    }
  }

  /** Its first fill that is known; null while it has none. */
  firstFill(memory: AccountMemory): Pick<FollowedDeal, 'atMs' | 'id'> | null {
    const { own } = this;
    if (own === null || parseDecimal(own.filled).eq(zero)) return null;
    const { firstFillMs, fills } = this.#fillTimes(memory, own);
    return { atMs: firstFillMs, id: fills[0]?.id ?? 0 };
  }

  /** Whether no fill of its order is known, and the exchange may have made this exit of one. */
  mayHaveMade(order: Unnamed): boolean {
    const { own, market, isSpot } = this;
    const [subject] = this.#subjects;
    const isKnown = parseDecimal(own?.filled ?? '0').gt(zero) || subject?.judgement?.isWhole === true;
    if (isSpot || isKnown) return false;
    if (this.#askedAmount()?.lt(order.amount) === true) return false;
    const entryOrderId = subject?.orderId ?? null;
    const exits = { market, side: oppositeOf(this.signal.side), entryOrderId, filled: order.amount };
    return this.wanted.some((wanted) => mayBeExit(exits, wanted, order));
  }

  /**
   * Whether the exchange may have made this exit of it in the moment in which it filled.
   *
   * @returns `exactly`: their times are the same
   */
  hasJustMade(memory: AccountMemory, order: Unnamed): 'exactly' | boolean {
    const made = this.#made(memory);
    if (made === null || !isOfMoment(order, made.fills)) return false;
    const fits = this.wanted.some((wanted) => this.#find(made, wanted, [order]) !== null);
    return fits && isOfMillisecond(order, made.fills) ? 'exactly' : fits;
  }

  /** Takes for its own what was dealt of an exit that no list of orders shows. */
  takeAttached(hasDeals: (name: OrderPlaceName) => boolean): void {
    const own = new Set(this.names.map(({ orderId }) => orderId));
    for (const { role, orderId } of this.attached?.exits ?? [])
      if (!own.has(orderId) && hasDeals({ market: this.market, orderId }))
        this.#subjects.push({ role, orderId, amount: null, before: null, judgement: null });
  }

  /** Claims the exits that its fills have made and that it has not found yet. */
  claim(memory: AccountMemory, unclaimed: readonly Unnamed[]): readonly Unnamed[] {
    const made = this.#made(memory);
    if (made === null) return [];
    const { own, filled } = made;
    const claimed: Unnamed[] = [];
    for (const wanted of this.wanted) {
      for (;;) {
        const free = unclaimed.filter((order) => !claimed.includes(order));
        const exit = this.#find(made, wanted, free);
        if (exit === null) break;
        claimed.push(exit);
        const { orderId, amount } = exit;
        const price = formatDecimal(exitPriceOf(exit));
        // While the order may fill on, what is made of it now may be for a part of it.
        const isPart = !amount.eq(zero) && (isStillOpen(own.status) || !amount.eq(filled));
        const name = { role: wanted.role, orderId, amount: amount.eq(zero) ? null : amount, price };
        this.#subjects.push({ ...name, isPart, before: null, judgement: null });
      }
    }
    return claimed;
  }

  /** What can have exits; null: nothing filled, or the exchange makes none. */
  #made(memory: AccountMemory): MadeOf | null {
    const { own } = this;
    const filled = parseDecimal(own?.filled ?? '0');
    // The exchange makes none of an order on spot: whatever looks like one is the owner's.
    if (own === null || filled.eq(zero) || this.isSpot) return null;
    return { own, filled, fills: this.#fillTimes(memory, own) };
  }

  #find({ own, filled, fills }: MadeOf, wanted: WantedExit, orders: readonly Unnamed[]): Unnamed | null {
    const rest = this.#unclaimed(wanted.role, filled);
    if (!rest.gt(zero)) return null;
    const side = oppositeOf(this.signal.side);
    return findExit(
      { market: this.market, side, entryOrderId: own.orderId, filled, rest },
      fills,
      wanted,
      orders,
    );
  }

  /** How much of what was filled has no exit of this kind yet, in base units. */
  #unclaimed(role: OrderRole, filled: Decimal): Decimal {
    return this.#subjects
      .filter((subject) => subject.role === role)
      .reduce(
        (rest, { amount, isPart }) => (isPart === true && amount !== null ? rest.minus(amount) : zero),
        filled,
      );
  }

  /** The entry with all that is known of its orders by now. */
  currentAt(readAtMs: number): Entry {
    const before = this.entry.execution;
    const orders = this.#subjects.flatMap(({ judgement }) => judgement?.order ?? []);
    if (orders[0]?.role !== 'order') return this.entry;
    const isSame = before !== null && JSON.stringify(orders) === JSON.stringify(before.orders);
    const execution = {
      revision: before?.revision ?? 0,
      readAtMs: isSame ? before.readAtMs : readAtMs,
      orders,
      isFollowed: !this.isDone,
      ...this.watched,
      ...soldIn(this.soldOf),
      ...attachedIn(this.attached),
    };
    return { ...this.entry, execution };
  }

  /** What must be stored; null when nothing has changed. */
  changeAt(
    memory: AccountMemory,
    readAtMs: number,
  ): { readonly execution: Execution; readonly fills: readonly Fill[] } | null {
    const before = this.entry.execution;
    const orders = this.#subjects.flatMap(({ judgement }) => judgement?.order ?? []);
    if (orders[0]?.role !== 'order') return null;
    const next = {
      ...{ orders, isFollowed: !this.isDone, ...this.watched },
      ...{ ...soldIn(this.soldOf), ...attachedIn(this.attached) },
    };
    const fills = this.#subjects.flatMap((subject) => this.#fillsOf(subject, memory));
    const isSame = before !== null && JSON.stringify(next) === JSON.stringify(comparable(before));
    if (isSame && fills.length === 0) return null;
    return { execution: { revision: (before?.revision ?? 0) + 1, readAtMs, ...next }, fills };
  }

  noteStored(memory: AccountMemory, fills: readonly Fill[]): void {
    for (const { market, orderId, dealId } of fills) memory.knownOf({ market, orderId }).stored.add(dealId);
  }

  /** The fills that are counted and that this process has not stored yet. */
  #fillsOf({ role, orderId, before, judgement }: Subject, memory: AccountMemory): readonly Fill[] {
    const { stored } = memory.knownOf({ market: this.market, orderId });
    const order = judgement?.order ?? null;
    if (order === null || order.filled === (before?.filled ?? '0')) return [];
    const missing = judgement?.booked.deals.filter(({ id }) => !stored.has(id)) ?? [];
    return missing.map((deal) => this.#fillOf(deal, role, orderId));
  }

  #fillOf(deal: FollowedDeal, role: OrderRole, orderId: number): Fill {
    const { account, signalId } = this.entry;
    return {
      account,
      market: this.market,
      dealId: deal.id,
      atMs: deal.atMs,
      signalId,
      orderId,
      role,
      side: role === 'order' ? this.signal.side : oppositeOf(this.signal.side),
      ...positionMarksOf(this.signal),
      ...fillMarksOf(this.entry),
      liquidity: deal.role,
      amount: formatDecimal(deal.amount),
      price: formatDecimal(deal.price),
      notional: formatDecimal(deal.notional),
      fee: formatDecimal(deal.fee),
      feeAsset: deal.feeAsset,
    };
  }

  #fillTimes(memory: AccountMemory, { orderId, endedAtMs, filledAtMs }: OrderExecution): FillTimes {
    const { deals } = memory.knownOf({ market: this.market, orderId });
    const fills = [...deals.values()].sort((one, other) => one.atMs - other.atMs || one.id - other.id);
    const lastMs = endedAtMs ?? fills.at(-1)?.atMs ?? filledAtMs ?? null;
    return { firstFillMs: fills[0]?.atMs ?? endedAtMs ?? 0, lastMs, fills };
  }

  /** What the order is filled with when it is filled, in base units; null when that is not known. */
  #askedAmount(): Decimal | null {
    const { size } = this.signal;
    const reported = this.entry.steps.findLast(({ facts }) => facts?.report !== undefined)?.facts?.report;
    return size.unit === 'base' ? parseDecimal(reported?.amount ?? size.quantity) : null;
  }
}

const roleOrder: Readonly<Record<OrderRole, number>> = { order: 0, stop_loss: 1, take_profit: 2 };

function nameOf({ role, orderId, price, amount }: OrderExecution): FollowedName {
  return {
    role,
    orderId,
    amount: amount === undefined ? null : parseDecimal(amount),
    ...(price === undefined ? {} : { price }),
    ...(amount === undefined ? {} : { isPart: true }),
  };
}

function watchedOf(execution: Execution | null): Watched {
  const { unprotectedSinceMs, unprotectedAtMs, exitsEnded } = execution ?? {};
  return {
    ...(unprotectedSinceMs === undefined ? {} : { unprotectedSinceMs }),
    ...(unprotectedAtMs === undefined ? {} : { unprotectedAtMs }),
    ...(exitsEnded === undefined ? {} : { exitsEnded }),
  };
}

/** The part of an execution that a reading can change. */
function comparable(execution: Execution) {
  const { orders, isFollowed, soldOf = {}, attached = null } = execution;
  return { orders, isFollowed, ...watchedOf(execution), ...soldIn(soldOf), ...attachedIn(attached) };
}

function soldIn(soldOf: SoldOf): Pick<Execution, 'soldOf'> {
  return Object.keys(soldOf).length === 0 ? {} : { soldOf };
}

function attachedIn(attached: AttachedOrders | null): Pick<Execution, 'attached'> {
  return attached === null ? {} : { attached };
}
