import { type Decimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { orderSignalOf } from '../../lib/ledger/sent-order.ts';
import { isMarkedReducing, type PositionSide, type Side } from '../../lib/model/order.ts';
import type { ExitRole } from '../../lib/model/signal.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import type { Facts } from './invariants.ts';
import { handPrefix } from './own-orders.ts';

/** A stop-loss or take-profit: the exchange made it from an entry, or the relay placed it for one. */
export interface TrueExit {
  readonly order: PaperOrder;
  readonly role: ExitRole;
  /** The entry that it protects. */
  readonly of: Entry;
  /** The signal that placed it; null for one that the exchange made. */
  readonly placedBy: Entry | null;
}

/** An order that an alert asked for, and that opened or enlarged a position. */
export interface TrueSource {
  readonly entry: Entry;
  readonly order: PaperOrder;
  /** What the alert asked for beside it. */
  readonly hasStop: boolean;
  /** What it filled since the position was flat last, less what its own exits have closed of that, in base units. */
  readonly left: Decimal;
}

/** One position of an account at the end of a run, flat ones included. */
export interface TruePlace {
  readonly account: string;
  readonly market: string;
  readonly positionSide: PositionSide;
  /** Signed, in base units. */
  readonly amount: Decimal;
  /** When the position changed last; minus infinity when it never did. */
  readonly changedAtMs: number;
  /** When it was opened in its direction; minus infinity when it never was. */
  readonly openedAtMs: number;
  /** What has changed it, oldest first. */
  readonly deals: readonly PaperDeal[];
  /** The open exits of this market and side. */
  readonly exits: readonly TrueExit[];
  /** All of them, those that have ended included. */
  readonly everyExit: readonly TrueExit[];
  /** The open stops of the owner that only reduce it. */
  readonly handStops: readonly PaperOrder[];
  /** The open stops of alerts that only reduce it. */
  readonly alertStops: readonly PaperOrder[];
  /** The orders that may have opened it, oldest first. */
  readonly sources: readonly TrueSource[];
}

/** The alert of an order may have been stored before another one was carried out, and have waited for it. */
export function sentAtMs({ steps, createdAtMs }: Entry): number {
  return steps.findLast(({ status }) => status === 'sending')?.atMs ?? createdAtMs;
}

/** The positions of a run in which orders of the relay have traded, with all that protects them. */
export function listPlaces(facts: Facts): readonly TruePlace[] {
  const byClientId = new Map(
    facts.entries.map((entry) => [`${entry.account} ${entry.clientOrderId}`, entry]),
  );
  const entryOf = ({ account, clientOrderId }: PaperOrder) =>
    clientOrderId === '' ? undefined : byClientId.get(`${account} ${clientOrderId}`);
  const orders = [...facts.exchange.orders.values()].filter((order) => !isSpotOrder(order));
  const exits = listExits(facts, orders, entryOf);
  const places = Map.groupBy(
    orders,
    ({ account, market, positionSide }) => `${account} ${market} ${positionSide}`,
  );
  return [...places].map(([place, own]) => describePlace(facts, place, own, { exits, entryOf }));
}

interface Known {
  readonly exits: readonly TrueExit[];
  readonly entryOf: (order: PaperOrder) => Entry | undefined;
}

function listExits(
  { entries, exchange }: Facts,
  orders: readonly PaperOrder[],
  entryOf: Known['entryOf'],
): readonly TrueExit[] {
  const bySignal = new Map(entries.map((entry) => [`${entry.account} ${entry.signalId}`, entry]));
  return orders.flatMap((order): readonly TrueExit[] => {
    const parent = exchange.orders.get(order.parentId ?? 0);
    const made = parent === undefined ? undefined : entryOf(parent);
    const role = order.activationPrice === null ? 'take_profit' : 'stop_loss';
    if (made !== undefined) return [{ order, role, of: made, placedBy: null }];
    const placedBy = entryOf(order);
    if (placedBy?.signal?.action !== 'protect') return [];
    const of = bySignal.get(`${placedBy.account} ${placedBy.signal.of}`);
    return of === undefined ? [] : [{ order, role: placedBy.signal.role, of, placedBy }];
  });
}

function describePlace(
  { exchange }: Facts,
  place: string,
  orders: readonly PaperOrder[],
  { exits, entryOf }: Known,
): TruePlace {
  const [account = '', market = '', side = ''] = place.split(' ');
  const positionSide = side as PositionSide;
  const ids = new Set(orders.map(({ orderId }) => orderId));
  const deals = exchange.deals.filter(({ orderId }) => ids.has(orderId));
  const everyExit = exits.filter(({ order }) => ids.has(order.orderId));
  const open = orders.filter(({ orderId }) => exchange.open.has(orderId));
  const { amount, flatBefore } = replay(deals);
  const sinceFlat = deals.slice(flatBefore);
  return {
    account,
    market,
    positionSide,
    amount,
    changedAtMs: deals.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY,
    openedAtMs: sinceFlat[0]?.atMs ?? Number.NEGATIVE_INFINITY,
    deals,
    exits: everyExit.filter(({ order }) => exchange.open.has(order.orderId)),
    everyExit,
    handStops: open.filter(
      ({ clientOrderId, activationPrice }) =>
        clientOrderId.startsWith(handPrefix) && activationPrice !== null,
    ),
    alertStops: open.filter(
      (order) =>
        order.reduceOnly && order.activationPrice !== null && entryOf(order)?.signal?.action === 'order',
    ),
    sources: listSources(orders, sinceFlat, { exits: everyExit, entryOf }),
  };
}

/** The position after these deals, and from which of them on it has been of the same side. */
function replay(deals: readonly PaperDeal[]): { readonly amount: Decimal; readonly flatBefore: number } {
  let [amount, flatBefore] = [zero, 0];
  for (const [place, deal] of deals.entries()) {
    const next = deal.side === 'buy' ? amount.plus(deal.amount) : amount.minus(deal.amount);
    if (next.eq(zero)) flatBefore = place + 1;
    else if (next.times(amount).lt(zero)) flatBefore = place;
    amount = next;
  }
  return { amount, flatBefore };
}

function listSources(
  orders: readonly PaperOrder[],
  sinceFlat: readonly PaperDeal[],
  { exits, entryOf }: Known,
): readonly TrueSource[] {
  const filledBy = (id: number) =>
    sinceFlat.filter(({ orderId }) => orderId === id).reduce((sum, { amount }) => sum.plus(amount), zero);
  const place = orders.findLastIndex((order) => closesAll(order, entryOf(order)));
  return orders.slice(place + 1).flatMap((order) => {
    const entry = entryOf(order);
    const asked = entry === undefined ? null : orderSignalOf(entry);
    if (entry === undefined || asked === null || entry.status !== 'placed') return [];
    if (isMarkedReducing(asked) || entry.signal?.action === 'protect') return [];
    const closed = exits
      .filter(({ of }) => of === entry)
      .reduce((sum, exit) => sum.plus(filledBy(exit.order.orderId)), zero);
    const left = filledBy(order.orderId).minus(closed);
    if (!left.gt(zero)) return [];
    return [{ entry, order, hasStop: asked.stopLoss !== undefined, left }];
  });
}

/**
 * Whether an order has closed all of the position that the relay had read. It ends the exits of what opened that; what an order by
 * hand has opened meanwhile is none of it.
 */
function closesAll({ side, filled }: PaperOrder, entry: Entry | undefined): boolean {
  const action = entry?.signal?.action;
  if (entry === undefined || action === 'order' || action === 'protect') return false;
  const read = entry.steps.findLast(({ facts }) => facts?.position !== undefined)?.facts?.position;
  const held = parseDecimal(read?.amount ?? '0');
  return filled.gt(zero) && held.abs().eq(filled) && held.gt(zero) === (side === 'sell');
}

/** What a source has left of a position that is shared newest first. */
export function shareNewestFirst({
  amount,
  sources,
}: TruePlace): readonly (TrueSource & { readonly share: Decimal })[] {
  const side: Side = amount.gt(zero) ? 'buy' : 'sell';
  let rest = amount.abs();
  return sources
    .filter(({ order }) => order.side === side)
    .toReversed()
    .map((source) => {
      const share = minimum(source.left, rest);
      rest = rest.minus(share);
      return { ...source, share };
    });
}
