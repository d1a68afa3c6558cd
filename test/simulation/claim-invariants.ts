import { type Decimal, formatDecimal, maximum, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import { isQuoteSized } from '../../lib/model/order.ts';
import type { OrderSignal } from '../../lib/model/signal.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { isMarketTold } from './guard-invariants.ts';
import { keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { type EntryOf, entriesOf, isOwn, leastSale, replayLots, sum } from './spot-lots.ts';

/**
 * Finds sales of a strategy on spot that took what another one had bought with a stop-loss, where no alarm says so, and sales
 * that were denied for that although their own coins were there. What there was is computed from the deals of the exchange,
 * for each moment that a list can have shown.
 */
export function findWrongSales(facts: Facts): readonly Violation[] {
  if (facts.dialect !== 'live') return [];
  const entryOf = entriesOf(facts);
  const orders = [...facts.exchange.orders.values()].filter(isSpotOrder);
  const places = Map.groupBy(orders, ({ account, market }) => `${account} ${market}`);
  return [...places.values()].flatMap((own) => {
    const place = openPlace(facts, own, entryOf);
    return [...findTaken(place), ...findWronglyDenied(place)];
  });
}

/** A spot market of an account. */
interface Place {
  readonly facts: Facts;
  readonly entryOf: EntryOf;
  /** Oldest first. */
  readonly orders: readonly PaperOrder[];
  /** Oldest first. */
  readonly deals: readonly PaperDeal[];
  /** What the account held before the first of these, in base units. */
  readonly heldFirst: Decimal;
}

function openPlace(facts: Facts, orders: readonly PaperOrder[], entryOf: EntryOf): Place {
  const ids = new Set(orders.map(({ orderId }) => orderId));
  const deals = facts.exchange.deals.filter(({ orderId }) => ids.has(orderId));
  const [{ account, market } = { account: '', market: '' }] = orders;
  const balance = facts.exchange.accounts.get(account)?.spot.get(currenciesInName(market).base);
  const held = (balance?.available ?? zero).plus(balance?.reserved ?? zero);
  return { facts, entryOf, orders, deals, heldFirst: held.minus(sum(deals.map(changeBy))) };
}

/** How a deal changes what is held. */
function changeBy({ side, amount, fee }: PaperDeal): Decimal {
  return side === 'buy' ? amount.minus(fee) : amount.neg();
}

/** A reading can be so old, with the time that the relay needs for its decision. */
const readingMs = 25_000;

function findTaken(place: Place): readonly Violation[] {
  const { facts, entryOf, orders, deals } = place;
  return orders.flatMap((order) => {
    const entry = entryOf(order);
    const sale = saleOf(entry);
    if (entry === undefined || sale?.strategy === undefined || order.side !== 'sell') return [];
    const started = facts.history.started.get(keyText(entry));
    const startedAtMs = started?.invocation?.startedAtMs ?? order.createdAtMs;
    const before = deals.filter((deal) => isBefore(deal, order));
    const isTold = (deal: PaperDeal) => wasTold(place, deal, startedAtMs);
    const shares = readable(before, startedAtMs - readingMs).map((read) =>
      shareOf(place, sale.strategy, read, { order, deals: before }, isTold),
    );
    const most = shares.reduce((one, other) => maximum(one, other), zero);
    if (order.amount.minus(most).lte(leastSale)) return [];
    if (isMarketTold(facts, order, order.createdAtMs)) return [];
    const text = `${keyText(entry)} of ${sale.strategy} sold ${formatDecimal(order.amount)} ${order.market}, and had no more than ${formatDecimal(most)}: the rest was bought with a stop-loss by others`;
    return [{ invariant: 'I46', harm: 'silent', text } as const];
  });
}

/** A fill of another order in the same millisecond came first if its deal has the lower id. */
function isBefore(deal: PaperDeal, { orderId, createdAtMs }: PaperOrder): boolean {
  return deal.atMs < createdAtMs || (deal.atMs === createdAtMs && deal.orderId < orderId);
}

/** What a list can have shown of these deals: all of them, or all but those since a time. */
function readable(deals: readonly PaperDeal[], sinceMs: number): readonly (readonly PaperDeal[])[] {
  const first = deals.filter(({ atMs }) => atMs < sinceMs).length;
  return Array.from({ length: deals.length - first + 1 }, (_, more) => deals.slice(0, first + more));
}

interface Moment {
  /** The sale; what it holds itself is left out, with all that came later. */
  readonly order: Pick<PaperOrder, 'orderId' | 'createdAtMs'>;
  /** All before it. */
  readonly deals: readonly PaperDeal[];
}

/**
 * What a sale of a strategy may sell: what there is without what others have bought with a stop-loss, and at least what it has
 * bought itself. What resting sales hold is left out: they count as if they had sold it when they were placed.
 *
 * @param read the deals that are shown
 * @param isTold the fills of other strategies' buys that count
 */
function shareOf(
  place: Place,
  strategy: string | undefined,
  read: readonly PaperDeal[],
  moment: Moment,
  isTold: (deal: PaperDeal) => boolean,
): Decimal {
  const { entryOf, heldFirst } = place;
  const resting = restingSales(place, moment);
  const asSold = [...read, ...resting].toSorted((one, other) => one.atMs - other.atMs);
  let mine = zero;
  let others = zero;
  for (const [name, lot] of replayLots(asSold, entryOf)) {
    if (isOwn(lot, strategy)) {
      mine = mine.plus(lot.left);
      continue;
    }
    if (!lot.isGuarded) continue;
    const untold = read.filter((deal) => entryOf(deal)?.signalId === name && !isTold(deal));
    others = others.plus(maximum(lot.left.minus(sum(untold.map(changeBy))), zero));
  }
  const there = heldFirst
    .plus(sum(read.map(changeBy)))
    .minus(sum(resting.map(({ amount }) => amount)))
    .minus(others);
  return maximum(there, mine);
}

/** What sales hold that were open then, and are no stop-losses of the relay, as fills. */
function restingSales({ orders, entryOf }: Place, { order, deals }: Moment) {
  return orders
    .filter(({ side, orderId }) => side === 'sell' && orderId < order.orderId)
    .filter(({ status, updatedAtMs }) => isOpen(status) || updatedAtMs > order.createdAtMs)
    .filter((sale) => entryOf(sale)?.signal?.action !== 'protect')
    .map((sale) => {
      const sold = deals.filter(({ orderId }) => orderId === sale.orderId).map(({ amount }) => amount);
      const { account, clientOrderId, side, createdAtMs } = sale;
      const amount = sale.amount.minus(sum(sold));
      return { account, clientOrderId, side, amount, fee: zero, atMs: createdAtMs };
    });
}

function isOpen(status: PaperOrder['status']): boolean {
  return status === 'open' || status === 'partially_filled';
}

/** Whether the relay had stored a fill before a time, or sent its order before: that counts with all that it can fill. */
function wasTold({ facts, entryOf }: Place, deal: PaperDeal, beforeMs: number): boolean {
  const storedAtMs = facts.history.storedDeals.get(deal.dealId) ?? Number.POSITIVE_INFINITY;
  if (storedAtMs < beforeMs) return true;
  const entry = entryOf(deal);
  const started = entry === undefined ? undefined : facts.history.started.get(keyText(entry));
  return started !== undefined && started.atMs < beforeMs;
}

function saleOf(entry: Entry | undefined): OrderSignal | null {
  const signal = entry?.signal;
  return signal?.action === 'order' && signal.side === 'sell' ? signal : null;
}

interface DeniedSale {
  readonly rule?: string;
  readonly actual?: string;
}

/** Where nothing was unknown, a denied sale asked for more than its strategy had at one moment before. */
function findWronglyDenied(place: Place): readonly Violation[] {
  const { facts, orders, deals } = place;
  const [first] = orders;
  return facts.entries.flatMap((entry) => {
    const sale = saleOf(entry);
    const step = entry.steps.at(-1);
    const { rule, actual = '' } = (step?.evidence ?? {}) as DeniedSale;
    if (sale === null || rule !== 'bought_by_other_strategy') return [];
    if (entry.account !== first?.account || sale.market !== first.market) return [];
    const seen = facts.history.statuses.get(keyText(entry)) ?? [];
    const deniedAtMs = seen.find(({ status }) => status === 'denied')?.atMs ?? entry.updatedAtMs;
    if (wasUnknown(facts, entry, deniedAtMs)) return [];
    const before = deals.filter(({ atMs }) => atMs <= deniedAtMs);
    if (before.some((deal) => isSpent(place, deal, deniedAtMs))) return [];
    if (orders.some((order) => restedAt(order, deniedAtMs))) return [];
    const moment = { order: { orderId: Number.MAX_SAFE_INTEGER, createdAtMs: deniedAtMs }, deals: before };
    const shares = readable(before, deniedAtMs - readingMs).map((read) =>
      shareOf(place, sale.strategy, read, moment, () => true),
    );
    const fewest = shares.reduce((one, other) => minimum(one, other));
    const asked = /^[0-9.]+$/.test(actual) ? parseDecimal(actual) : leastSale;
    if (asked.plus(leastSale).gt(fewest)) return [];
    const text = `${keyText(entry)} of ${sale.strategy} was denied ${formatDecimal(asked)} ${sale.market}, as bought by others, and had ${formatDecimal(fewest)}`;
    return [{ invariant: 'I46', harm: 'other', text } as const];
  });
}

/** Whether it is a buy that rested then, as far as a list can have shown: it counts with all that it can fill. */
function restedAt({ side, status, createdAtMs, updatedAtMs }: PaperOrder, atMs: number): boolean {
  return side === 'buy' && createdAtMs <= atMs && (isOpen(status) || updatedAtMs > atMs - readingMs);
}

/** Whether the relay knew of a buy only what it had spent: then it counts the most that this can have bought. */
function isSpent({ facts }: Place, { orderId, dealId }: PaperDeal, atMs: number): boolean {
  const order = facts.exchange.orders.get(orderId);
  const storedAtMs = facts.history.storedDeals.get(dealId) ?? Number.POSITIVE_INFINITY;
  return order !== undefined && isQuoteSized(order) && storedAtMs > atMs - readingMs;
}

/** Whether the outcome of an order of the market was not known then. */
function wasUnknown({ history, entries }: Facts, { account, signal }: Entry, atMs: number): boolean {
  return entries
    .filter((other) => other.account === account && other.signal?.market === signal?.market)
    .some((other) => {
      const seen = history.statuses.get(keyText(other)) ?? [];
      return seen.some(
        ({ status, atMs: fromMs }, place) =>
          (status === 'unknown' || status === 'sending') &&
          fromMs <= atMs &&
          (seen[place + 1]?.atMs ?? Number.POSITIVE_INFINITY) > atMs - readingMs,
      );
    });
}
