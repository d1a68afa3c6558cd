import { type Decimal, formatDecimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import type { PaperDeal } from '../../lib/paper/engine/trade-records.ts';
import { isMarketTold } from './guard-invariants.ts';
import type { Facts, Violation } from './invariants.ts';

/** What cannot be sold at a stop-loss, because it is worth too little, in base units. */
const least = parseDecimal('0.06');

/**
 * Finds spot buys whose stop-losses at the end of a run are for less or for more than what is left of them, where no alarm
 * says so. What is left is computed from the deals of the exchange alone.
 */
export function findUnfitSpotStops(facts: Facts): readonly Violation[] {
  if (facts.dialect !== 'live') return [];
  const byName = new Map(facts.entries.map((entry) => [`${entry.account} ${entry.clientOrderId}`, entry]));
  const entryOf = ({ account, clientOrderId }: Pick<PaperOrder, 'account' | 'clientOrderId'>) =>
    clientOrderId === '' ? undefined : byName.get(`${account} ${clientOrderId}`);
  const orders = [...facts.exchange.orders.values()].filter(isSpotOrder);
  const places = Map.groupBy(orders, ({ account, market }) => `${account} ${market}`);
  return [...places.values()].flatMap((own) => judgePlace(facts, own, entryOf));
}

type EntryOf = (order: Pick<PaperOrder, 'account' | 'clientOrderId'>) => Entry | undefined;

function judgePlace(facts: Facts, orders: readonly PaperOrder[], entryOf: EntryOf): readonly Violation[] {
  const ids = new Set(orders.map(({ orderId }) => orderId));
  const deals = facts.exchange.deals.filter(({ orderId }) => ids.has(orderId));
  const lots = replay(deals, entryOf);
  const open = orders.filter(({ orderId, side }) => side === 'sell' && facts.exchange.open.has(orderId));
  const isOwn = (order: PaperOrder) => entryOf(order)?.signal?.action === 'protect';
  const left = sum(
    [...lots]
      .filter(([name, lot]) => lot.gte(least) && !isReleased(facts, name, orders, entryOf))
      .map(([, lot]) => lot),
  );
  const all = sum([...lots.values()].filter((lot) => lot.gt(zero)));
  const stops = sum(
    open.filter((order) => isOwn(order) && !order.activated).map(({ remaining }) => remaining),
  );
  const held = sum(open.filter((order) => !isOwn(order)).map(({ remaining }) => remaining));
  const [first] = orders;
  const sinceMs = Math.max(...orders.map(({ updatedAtMs }) => updatedAtMs));
  if (first === undefined || isTold(facts, first, sinceMs, isOwn, orders)) return [];
  const isTooLittle = left.minus(stops).minus(held).gt(least);
  if (!isTooLittle && !stops.minus(all).gt(least)) return [];
  const text = `${first.account} ${first.market}: ${formatDecimal(all)} is left of spot buys with a stop-loss, and the stop-losses are for ${formatDecimal(stops)}`;
  return [{ invariant: 'I39', harm: 'silent', text }];
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

/** What is left of each buy with a stop-loss, by its client order id. */
function replay(deals: readonly PaperDeal[], entryOf: EntryOf): ReadonlyMap<string, Decimal> {
  const lots = new Map<string, Decimal>();
  for (const deal of deals) {
    const signal = entryOf(deal)?.signal;
    if (signal?.action === 'order' && deal.side === 'buy' && signal.stopLoss !== undefined) {
      const name = entryOf(deal)?.signalId ?? '';
      lots.set(name, (lots.get(name) ?? zero).plus(deal.amount).minus(deal.fee));
    } else if (signal?.action === 'protect')
      lots.set(signal.of, (lots.get(signal.of) ?? zero).minus(deal.amount));
    else if (signal?.action === 'order' && deal.side === 'sell') {
      let rest = deal.amount;
      for (const [name, left] of lots) {
        const sold = left.gt(zero) ? minimum(left, rest) : zero;
        lots.set(name, left.minus(sold));
        rest = rest.minus(sold);
      }
    }
  }
  return lots;
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

function sum(amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((total, amount) => total.plus(amount), zero);
}
