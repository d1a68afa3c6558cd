import { type Decimal, formatDecimal, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import type { ProtectSignal } from '../../lib/model/signal.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import type { OrderState } from '../../lib/paper/server/state.ts';
import { type RaisedAlarm, readAlarms } from './alarms.ts';
import { describeOrder, logEntry } from './describe.ts';
import type { Evidence, Violation } from './evidence.ts';
import type { Facts } from './facts.ts';
import { grounds, guardedAccount, tradingAccounts } from './relay-config.ts';

/** What the protection of positions is judged by. */
export interface ProtectionView extends Pick<Facts, 'exchange'> {
  /** Those of the account whose positions the relay protects; others do no harm. */
  readonly entries: readonly Entry[];
  readonly alarms: readonly RaisedAlarm[];
}

/**
 * Checks the orders by which the relay itself protects positions: each only reduces, and is at most what its entry filled.
 * At the end, what protects a position is never more than the position, and no part of one lacks its stop-loss in silence.
 */
export function checkProtection(evidence: Evidence): readonly Violation[] {
  const alarms = readAlarms(evidence.writings);
  return [
    ...evidence.entries.flatMap((entry) => checkProtective(evidence, entry)),
    ...findUnfitProtection({ ...evidence, alarms }),
  ];
}

/** An entry by which the relay protects a part of a position. */
export function isProtective(entry: Entry | null): entry is Entry & { readonly signal: ProtectSignal } {
  return entry?.signal?.action === 'protect';
}

function checkProtective(evidence: Evidence, entry: Entry): readonly Violation[] {
  if (!isProtective(entry)) return [];
  const of = evidence.entryOf({ account: entry.account, signalId: entry.signal.of });
  return evidence.ordersOf(entry).flatMap((order) => {
    const [parent] = of === null ? [] : evidence.ordersOf(of);
    const wrongs = [
      ...(entry.account === guardedAccount ? [] : ['an account that the relay does not protect has it']),
      ...(isReducing(order) ? [] : ['it could open a position']),
      ...(order.market === entry.signal.market ? [] : ['it is in another market than its entry']),
      ...(parent !== undefined && parent.side === order.side ? ['it is of the side of its entry'] : []),
      ...(parent !== undefined && parseDecimal(order.amount).gt(parseDecimal(parent.filled))
        ? ['it is more than its entry filled']
        : []),
    ];
    const details = [...logEntry(evidence, entry), ...(of === null ? [] : logEntry(evidence, of))];
    return wrongs.map((wrong) => ({
      wrong: 'disagreement' as const,
      what: `an order that protects a position: ${wrong}`,
      details,
    }));
  });
}

/** Nothing can be sold on spot that is not held. */
function isReducing({ market, side, reduceOnly }: OrderState): boolean {
  return grounds[market] === 'spot' ? side === 'sell' : reduceOnly;
}

/** A part of a position, or of a spot balance, and what should protect it. */
interface Place {
  readonly market: string;
  /** What must be protected, in base units: above zero long, below zero short. */
  readonly amount: Decimal;
  /** The open orders that protect it. */
  readonly exits: readonly OrderState[];
  /** When it changed last. */
  readonly changedAtMs: number;
}

/** Finds what stands that protects nothing, and positions that lack a stop-loss, where no alarm says so. */
export function findUnfitProtection(view: ProtectionView): readonly Violation[] {
  return listPlaces(view).flatMap((place) => {
    const wrongs = [...findTooMuch(place), ...findTooLittle(place)];
    if (wrongs.length === 0 || isTold(view, place)) return [];
    const details = place.exits.map(describeOrder);
    return wrongs.map((what) => ({ wrong: 'silent' as const, what, details }));
  });
}

function listPlaces(view: ProtectionView): readonly Place[] {
  const account = tradingAccounts[guardedAccount] ?? '';
  const own = view.exchange.orders.filter((order) => order.account === account);
  return Object.entries(grounds).flatMap(([market, ground]) => {
    const orders = own.filter((order) => order.market === market);
    if (ground === 'spot') return listLots(view, market, orders);
    const held = view.exchange.accounts[account]?.positions[market]?.amount ?? '0';
    const exits = orders.filter((order) => isOpen(order) && isExit(view, order));
    return [{ market, amount: parseDecimal(held), exits, changedAtMs: lastFillMs(orders) }];
  });
}

/** The relay placed it to protect a position, or the exchange made it from an order. */
function isExit({ entries }: ProtectionView, { clientOrderId }: OrderState): boolean {
  return clientOrderId === '' || isProtective(entryNamed(entries, clientOrderId));
}

function entryNamed(entries: readonly Entry[], clientOrderId: string): Entry | null {
  return entries.find((entry) => entry.clientOrderId === clientOrderId) ?? null;
}

/** Of each spot buy what is left of it: a sale reduces the oldest buys first, unless it is the stop-loss of one. */
function listLots(
  { entries }: ProtectionView,
  market: string,
  orders: readonly OrderState[],
): readonly Place[] {
  const lots = new Map<string, { left: Decimal; changedAtMs: number }>();
  const ofOrder = (order: OrderState) => entryNamed(entries, order.clientOrderId);
  const filled = orders
    .filter((order) => parseDecimal(order.filled).gt(zero))
    .toSorted((one, other) => one.updatedAtMs - other.updatedAtMs || one.orderId - other.orderId);
  for (const order of filled) {
    const entry = ofOrder(order);
    const amount = parseDecimal(order.filled);
    if (order.side === 'buy') {
      const left = amount.minus(parseDecimal(order.fee));
      lots.set(entry?.signalId ?? `order ${order.orderId}`, { left, changedAtMs: order.updatedAtMs });
      continue;
    }
    const reduced = isProtective(entry) ? [lots.get(entry.signal.of)] : [...lots.values()];
    let rest = amount;
    for (const lot of reduced) {
      const sold = lot === undefined ? zero : minimum(lot.left, rest);
      if (lot === undefined || !sold.gt(zero)) continue;
      lot.left = lot.left.minus(sold);
      lot.changedAtMs = order.updatedAtMs;
      rest = rest.minus(sold);
    }
  }
  const open = orders.filter(isOpen);
  return [...lots].map(([signalId, { left, changedAtMs }]) => ({
    market,
    amount: left,
    exits: open.filter((order) => {
      const entry = ofOrder(order);
      return isProtective(entry) && entry.signal.of === signalId;
    }),
    changedAtMs,
  }));
}

function isOpen({ status }: OrderState): boolean {
  return !isOrderEnd(status);
}

function lastFillMs(orders: readonly OrderState[]): number {
  const filled = orders.filter((order) => parseDecimal(order.filled).gt(zero));
  return Math.max(0, ...filled.map(({ updatedAtMs }) => updatedAtMs));
}

function findTooMuch(place: Place): readonly string[] {
  const { market, amount, exits } = place;
  const closing = amount.gt(zero) ? 'sell' : 'buy';
  const lost = exits.filter((exit) => amount.eq(zero) || exit.side !== closing);
  // For less than the smallest order nothing smaller can be placed.
  const isDust = amount.abs().lt(leastTrade(market)) && exits.every(isReducing);
  if (isDust && exits.every((exit) => !amount.eq(zero) && exit.side === closing)) return [];
  const held = `the position in ${market} is ${formatDecimal(amount)}`;
  return [
    ...(lost.length > 0 ? [`${held}, and an order that is open could open one of the other side`] : []),
    ...[exits.filter(isStop), exits.filter((exit) => !isStop(exit))].flatMap((alike) =>
      sumOf(alike).gt(amount.abs()) && lost.length === 0
        ? [`${held}, and what protects it is ${formatDecimal(sumOf(alike))}`]
        : [],
    ),
  ];
}

function findTooLittle({ market, amount, exits }: Place): readonly string[] {
  const closing = amount.gt(zero) ? 'sell' : 'buy';
  const stops = exits.filter((exit) => isStop(exit) && !exit.activated && exit.side === closing);
  const missing = amount.abs().minus(sumOf(stops));
  if (missing.lt(leastTrade(market).times(leastTrades))) return [];
  return [`of the position ${formatDecimal(amount)} in ${market} ${formatDecimal(missing)} has no stop-loss`];
}

/** What is left of two orders can each be too little for a stop-loss. */
const leastTrades = parseDecimal('2');

function isStop({ activationPrice }: OrderState): boolean {
  return activationPrice !== null;
}

function sumOf(orders: readonly OrderState[]): Decimal {
  return orders.reduce((sum, { remaining }) => sum.plus(parseDecimal(remaining)), zero);
}

function leastTrade(market: string): Decimal {
  const { minAmount, minTotal, startPrice, amountStep } = marketNamed(market);
  const least = minTotal.div(startPrice).plus(amountStep);
  return least.gt(minAmount) ? least : minAmount;
}

const warnings: ReadonlySet<string> = new Set([
  'orders_left_open',
  'order_contradicted',
  'position_unprotected',
  'protection_failed',
]);

/** Whether the owner knows: an outcome in the market is unknown, or there was an alarm since the position changed last. */
function isTold({ entries, alarms }: ProtectionView, { market, changedAtMs }: Place): boolean {
  const ofMarket = entries.filter(
    ({ account, signal }) => account === guardedAccount && signal?.market === market,
  );
  if (ofMarket.some(({ status }) => status === 'unknown')) return true;
  const ids = new Set(ofMarket.map(({ signalId }) => signalId));
  return alarms.some(
    ({ name, account, signalId, atMs, ...alarm }) =>
      warnings.has(name) &&
      account === guardedAccount &&
      atMs >= changedAtMs &&
      (alarm.market === market || ids.has(signalId)),
  );
}
