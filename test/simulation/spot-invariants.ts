import { type Decimal, formatDecimal, maximum, minimum, zero } from '../../lib/base/decimal.ts';
import { currenciesInName } from '../../lib/model/market.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { isMarketTold } from './guard-invariants.ts';
import type { Facts, Violation } from './invariants.ts';
import { handPrefix } from './own-orders.ts';
import { type EntryOf, entriesOf, leastSale, replayLots, sum } from './spot-lots.ts';

/**
 * Finds spot buys whose stop-losses at the end of a run are for less or for more than what is left of them, where no alarm
 * says so. What is left is computed from the deals of the exchange alone.
 */
export function findUnfitSpotStops(facts: Facts): readonly Violation[] {
  if (facts.dialect !== 'live') return [];
  const entryOf = entriesOf(facts);
  const orders = [...facts.exchange.orders.values()].filter(isSpotOrder);
  const places = Map.groupBy(orders, ({ account, market }) => `${account} ${market}`);
  return [...places.values()].flatMap((own) => [
    ...judgePlace(facts, own, entryOf),
    ...findSoldTwice(facts, own, entryOf),
  ]);
}

/** The stop-losses of a buy sell no more than that has bought. */
function findSoldTwice(
  { exchange }: Facts,
  orders: readonly PaperOrder[],
  entryOf: EntryOf,
): readonly Violation[] {
  const sold = new Map<string, Decimal>();
  const bought = new Map<string, Decimal>();
  const ids = new Set(orders.map(({ orderId }) => orderId));
  const add = (to: Map<string, Decimal>, name: string, amount: Decimal) =>
    to.set(name, (to.get(name) ?? zero).plus(amount));
  for (const deal of exchange.deals) {
    const entry = ids.has(deal.orderId) ? entryOf(deal) : undefined;
    const signal = entry?.signal;
    if (signal?.action === 'protect') add(sold, signal.of, deal.amount);
    else if (entry !== undefined && deal.side === 'buy')
      add(bought, entry.signalId, deal.amount.minus(deal.fee));
  }
  return [...sold].flatMap(([name, amount]) => {
    const most = bought.get(name) ?? zero;
    const text = `${orders[0]?.account} ${orders[0]?.market}: stop-losses of "${name}" have sold ${formatDecimal(amount)}, and it has bought ${formatDecimal(most)}`;
    return amount.gt(most) ? [{ invariant: 'I39', harm: 'other', text }] : [];
  });
}

function judgePlace(facts: Facts, orders: readonly PaperOrder[], entryOf: EntryOf): readonly Violation[] {
  const ids = new Set(orders.map(({ orderId }) => orderId));
  const deals = facts.exchange.deals.filter(({ orderId }) => ids.has(orderId));
  const lots = replay(deals, entryOf);
  const open = orders.filter(({ orderId, side }) => side === 'sell' && facts.exchange.open.has(orderId));
  const isOwn = (order: PaperOrder) => entryOf(order)?.signal?.action === 'protect';
  const unreleased = [...lots]
    .filter(([name, lot]) => lot.gte(leastSale) && !isReleased(facts, name, orders, entryOf))
    .map(([, lot]) => lot);
  // What a sale took that could not know of a buy cannot be protected. I46 says which sales may do that.
  const left = minimum(sum(unreleased), heldOf(facts, orders));
  const all = sum([...lots.values()].filter((lot) => lot.gt(zero)));
  const stops = sum(
    open.filter((order) => isOwn(order) && !order.activated).map(({ remaining }) => remaining),
  );
  const others = open.filter((order) => !isOwn(order));
  const byHand = others.filter(({ clientOrderId }) => clientOrderId.startsWith(handPrefix));
  const ofAlerts = sum(others.filter((order) => !byHand.includes(order)).map(({ remaining }) => remaining));
  // An order by hand holds first what belongs to no buy.
  const besides = maximum(heldOf(facts, orders).minus(all), zero);
  const ofHand = maximum(sum(byHand.map(({ remaining }) => remaining)).minus(besides), zero);
  const held = ofAlerts.plus(ofHand);
  const [first] = orders;
  const sinceMs = Math.max(...orders.map(({ updatedAtMs }) => updatedAtMs));
  if (first === undefined || isTold(facts, first, sinceMs, isOwn, orders)) return [];
  const isTooLittle = left.minus(stops).minus(held).gt(leastSale);
  if (!isTooLittle && !stops.minus(all).gt(leastSale)) return [];
  const text = `${first.account} ${first.market}: ${formatDecimal(all)} is left of spot buys with a stop-loss, and the stop-losses are for ${formatDecimal(stops)}`;
  return [{ invariant: 'I39', harm: 'silent', text }];
}

/** What the account holds, in base units. */
function heldOf({ exchange }: Facts, [first]: readonly PaperOrder[]): Decimal {
  const balances = exchange.accounts.get(first?.account ?? '')?.spot;
  const { available = zero, reserved = zero } =
    balances?.get(currenciesInName(first?.market ?? '').base) ?? {};
  return available.plus(reserved);
}

/** Whether nothing that was placed for a buy is left, by an alert or by hand, and the owner was told of it since. */
function isReleased(
  { history }: Facts,
  signalId: string,
  orders: readonly PaperOrder[],
  entryOf: EntryOf,
): boolean {
  const placed = orders.filter((order) => {
    const signal = entryOf(order)?.signal;
    return signal?.action === 'protect' && signal.of === signalId;
  });
  const sinceMs = Math.max(...placed.map(({ updatedAtMs }) => updatedAtMs));
  return history.alarms.some(
    ({ name, atMs, facts }) =>
      name === 'position_unprotected' &&
      placed.some(({ account }) => account === facts['account']) &&
      facts['signalId'] === signalId &&
      atMs >= sinceMs,
  );
}

/** What is left of the buys with a stop-loss, by the ids of their signals. */
function replay(deals: readonly PaperDeal[], entryOf: EntryOf): ReadonlyMap<string, Decimal> {
  const lots = [...replayLots(deals, entryOf)].filter(([, { isGuarded }]) => isGuarded);
  return new Map(lots.map(([name, { left }]) => [name, left]));
}

/** Whether the owner was told of the market since it is as it is, or has ended a stop-loss himself. */
function isTold(
  facts: Facts,
  place: PaperOrder,
  sinceMs: number,
  isOwn: (order: PaperOrder) => boolean,
  orders: readonly PaperOrder[],
): boolean {
  const own = new Set(orders.filter(isOwn).map(({ orderId }) => orderId));
  if (facts.history.handCancels.some(({ orderId }) => own.has(orderId))) return true;
  return isMarketTold(facts, place, sinceMs);
}
