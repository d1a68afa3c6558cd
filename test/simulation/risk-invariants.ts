import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { isWindowOpen } from '../../lib/limits/trading-windows.ts';
import { isSpotOrder, type PaperOrder } from '../../lib/paper/engine/exchange-state.ts';
import { closesOnly } from '../../lib/paper/engine/positions.ts';
import type { Facts, Violation } from './invariants.ts';
import { matchOrders } from './own-orders.ts';
import { createViews, type ViewOf } from './position-view.ts';
import { readingsFor } from './readings.ts';
import { describeSent, listSentOrders, type SentOrder } from './sent-orders.ts';

/** Finds orders that enlarge what is at stake beyond the limits of their account, as far as the relay could know. */
export function findRisks(facts: Facts): readonly Violation[] {
  // The written API lists neither positions nor fills.
  if (facts.dialect !== 'live') return [];
  // A run with one kind of order has no such limits.
  if (Object.values(facts.settings.accounts).every(({ limits }) => limits === undefined)) return [];
  const viewOf = createViews(facts);
  return [
    ...findLargePositions(facts),
    ...listSentOrders(facts).flatMap((sent) => [
      ...findOpenTooMuch(facts, viewOf, sent),
      ...findAfterLoss(facts, sent),
      ...findOutsideWindow(sent),
    ]),
  ];
}

function broken(text: string): Violation {
  return { invariant: 'I30', harm: 'other', text };
}

/**
 * Replays the fills of each market with a `maxPosition`. What a stop-loss, a take-profit or the owner opened is taken off:
 * no order of a signal did that.
 */
function findLargePositions({ exchange, entries, settings }: Facts): readonly Violation[] {
  const orders = matchOrders(exchange, entries);
  const own = new Set(entries.flatMap((entry) => orders.of(entry).map(({ orderId }) => orderId)));
  const held = new Map<string, { amount: Decimal; byOthers: Decimal }>();
  return exchange.deals.flatMap(({ orderId, account, market, side, amount }) => {
    const most = settings.accounts[account]?.markets[market]?.maxPosition ?? null;
    const order = exchange.orders.get(orderId);
    if (most === null || order === undefined) return [];
    const name = `${account} ${market} ${order.positionSide}`;
    const before = held.get(name) ?? { amount: zero, byOthers: zero };
    const after = side === 'buy' ? before.amount.plus(amount) : before.amount.minus(amount);
    const isTurned = after.times(before.amount).lte(zero);
    const isEnlarged = after.abs().gt(before.amount.abs()) || isTurned;
    const others = isTurned ? zero : before.byOthers;
    const byOthers = own.has(orderId) || !isEnlarged ? others : others.plus(amount);
    held.set(name, { amount: after, byOthers });
    if (!own.has(orderId) || !isEnlarged || after.abs().minus(byOthers).lte(most)) return [];
    return [
      broken(`order ${orderId} made the position in ${name} ${after.toFixed()}, beyond ${most.toFixed()}`),
    ];
  });
}

/** Prices move by less than this between the reading and the order. */
const drift = parseDecimal('1.02');

/**
 * Adds up the account's positions and its entry orders that were open when the order came to the exchange. What others
 * traded while the list of positions lagged does not count: the relay could not know it.
 */
function findOpenTooMuch(facts: Facts, viewOf: ViewOf, sent: SentOrder): readonly Violation[] {
  const { exchange, entries } = facts;
  const most = sent.account.limits?.maxOpenNotional ?? null;
  const orders = matchOrders(exchange, entries);
  const [order] = orders.of(sent.entry);
  if (most === null || order === undefined || onlyReduces(order)) return [];
  const before = exchange.deals.filter(
    (deal) =>
      deal.account === order.account && deal.atMs <= order.createdAtMs && deal.orderId < order.orderId,
  );
  const positionsIn = (market: string) => believablePositions(facts, viewOf, sent, market, before);
  const isAgainst = (position: Decimal) => (order.side === 'buy' ? position.lt(zero) : position.gt(zero));
  if (positionsIn(order.market).some((held) => isAgainst(held) && order.amount.lte(held.abs()))) return [];
  const markets = new Set(before.map(({ market }) => market));
  const inPositions = [...markets].map((market) => leastOf(positionsIn(market)).times(firstPriceOf(market)));
  const resting = entries
    .flatMap((entry) => orders.of(entry))
    .filter((other) => other.account === order.account && other.orderId < order.orderId)
    .filter(
      (other) =>
        !onlyReduces(other) && (exchange.open.has(other.orderId) || other.updatedAtMs > order.createdAtMs),
    )
    .map((other) => worthOf(other, filledBefore(before, other)));
  const open = [...inPositions, ...resting, worthOf(order, zero)].reduce(
    (sum, value) => sum.plus(value),
    zero,
  );
  if (open.lte(most.times(drift))) return [];
  return [broken(`${describeSent(sent)} made ${open.toFixed(0)} USDT open, beyond ${most.toFixed()}`)];
}

/** The positions of a market that the relay could have read for the order, signed in base units. */
function believablePositions(
  { exchange }: Facts,
  viewOf: ViewOf,
  { entry, signal, send }: SentOrder,
  market: string,
  before: Facts['exchange']['deals'],
): readonly Decimal[] {
  const ofMarket = before.filter((deal) => {
    const order = exchange.orders.get(deal.orderId);
    return deal.market === market && order !== undefined && !isSpotOrder(order);
  });
  const isHedged = ofMarket.some(({ orderId }) => exchange.orders.get(orderId)?.positionSide !== 'BOTH');
  const view = viewOf(
    { ...entry, signal: { ...signal, market } },
    { atMs: send.atMs, invocation: send.invocation },
  );
  if (!isHedged && view.readAtMs !== null) return view.believable;
  return [
    ofMarket.reduce((sum, { side, amount }) => (side === 'buy' ? sum.plus(amount) : sum.minus(amount)), zero),
  ];
}

function leastOf(positions: readonly Decimal[]): Decimal {
  return positions.map((position) => position.abs()).toSorted((one, other) => one.cmp(other))[0] ?? zero;
}

function filledBefore(deals: Facts['exchange']['deals'], { orderId }: PaperOrder): Decimal {
  return deals.filter((deal) => deal.orderId === orderId).reduce((sum, { amount }) => sum.plus(amount), zero);
}

/** A spot buy without a limit price is sized in USDT. */
function worthOf({ type, side, amount, market, price }: PaperOrder, filled: Decimal): Decimal {
  if (side === 'buy' && (type === 'spot_market' || type === 'spot_stop_market')) return amount;
  const usual = firstPriceOf(market);
  return amount.minus(filled).times(price?.lt(usual) === true ? price : usual);
}

const firstPrices: Readonly<Record<string, string>> = {
  BTC_USDT: '60000',
  BTC_PERP: '60000',
  ETH_USDT: '3000',
  SOL_USDT: '150',
};

function firstPriceOf(market: string): Decimal {
  return parseDecimal(firstPrices[market] ?? '0');
}

function onlyReduces(order: PaperOrder): boolean {
  return isSpotOrder(order) ? order.side === 'sell' : closesOnly(order) || order.parentId !== null;
}

interface ReadPosition {
  readonly market: string;
  readonly amount: string | null;
  readonly unrealizedPnl?: string;
}

/** Finds orders sent although the positions that were read for them had lost as much as the day may lose. */
function findAfterLoss(facts: Facts, sent: SentOrder): readonly Violation[] {
  const most = sent.account.limits?.maxDailyLoss ?? null;
  const [order] = matchOrders(facts.exchange, facts.entries).of(sent.entry);
  if (most === null || order === undefined || onlyReduces(order)) return [];
  const readings = readingsFor(facts.history, sent.send, sent.market.name, 'positions') as ReadPosition[][];
  const gained = facts.exchange.positionEvents
    .filter(({ account, realizedPnl }) => account === sent.entry.account && realizedPnl.gt(zero))
    .reduce((sum, { realizedPnl }) => sum.plus(realizedPnl), zero);
  const isLost = (positions: readonly ReadPosition[]) => {
    const held = positions.find(({ market }) => market === sent.market.name)?.amount ?? '0';
    const isAgainst = parseDecimal(held)
      .times(sent.side === 'buy' ? '1' : '-1')
      .lt(zero);
    const floating = positions.reduce(
      (sum, { unrealizedPnl = '0' }) => sum.plus(parseDecimal(unrealizedPnl)),
      zero,
    );
    return !isAgainst && floating.plus(gained).neg().gte(most);
  };
  if (readings.length === 0)
    return [broken(`${describeSent(sent)} was sent without a reading of the positions`)];
  return readings.every(isLost)
    ? [broken(`${describeSent(sent)} was sent although the day had lost ${most.toFixed()}`)]
    : [];
}

/** Judged at the time that the relay wrote before it sent the order. */
function findOutsideWindow(sent: SentOrder): readonly Violation[] {
  const { account, entry, side, limits, reduceOnly } = sent;
  const atMs = entry.steps.find(({ status }) => status === 'sending')?.atMs;
  if (account.limits === undefined || atMs === undefined || isWindowOpen(account.limits, atMs)) return [];
  // On spot, a sale always reduces.
  if (reduceOnly || (side === 'sell' && limits.tradesOn === 'spot')) return [];
  return [broken(`${describeSent(sent)} was sent outside the trading windows`)];
}
